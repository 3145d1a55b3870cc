import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { channelsWorkflowId } from '../../../src/contract.ts';
import type { ApprovalDetails, ApprovalRequest, RunInput } from '../../../src/contract.ts';
import { instantText } from '../../../src/text/instant-text.ts';
import { eventually } from '../../support/eventually.ts';
import type { SlackMessageInTest } from './slack-server.ts';
import { openSlackWorld, type SlackWorld } from './slack-world.ts';
import { once, pay, rule } from '../../support/team.ts';
import type { RunInTest } from '../../support/world.ts';

/** The workflow of channels writes the messages here, as in production. */

let world: SlackWorld;
beforeAll(async () => {
  const policy = rule('pay', 'ask', { ask: { reviewers: ['ann', 'bob'] } });
  world = await openSlackWorld({ ann: ['reviewer'], bob: ['reviewer'] }, { policy, worker: false });
  await world.startWorker({ channels: { team: world.channel } });
});
afterAll(() => world.close());
beforeEach(() => {
  for (const list of [world.slack.ephemerals, world.slack.messages, world.slack.calls]) list.splice(0);
});

const settledIn = ({ blocks }: SlackMessageInTest): string[] =>
  blocks.flatMap(({ block_id: id = '' }) => (id.startsWith('settled.') ? [id.slice('settled.'.length)] : []));

async function ask(
  count: number,
  input: Partial<RunInput> = {},
): Promise<{ run: RunInTest; open: ApprovalRequest[]; message: SlackMessageInTest }> {
  const calls = Array.from({ length: count }, (_, index) => pay(`payee-${index}`, index));
  const run = await world.start(once(...calls), input);
  const open = await run.open(count);
  await eventually('the message with its thread', async () => {
    const handle = world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
    const { events } = await handle.fetchHistory().catch(() => ({ events: [] }));
    return events!.some(({ activityTaskCompletedEventAttributes: completed }) => {
      const scheduled = events![Number(completed?.scheduledEventId ?? 0) - 1];
      return scheduled?.activityTaskScheduledEventAttributes?.activityType?.name === 'countersign.channelNotify';
    });
  });
  world.slack.calls.splice(0);
  return { run, open, message: world.slack.posts[0]! };
}

test('two people click while the update of the first click is on its way: the message says who was first', async () => {
  const [ann, bob] = [await world.linked('ann'), await world.linked('bob')];
  const { run, open, message } = await ask(2);
  const [first, second] = open as [ApprovalDetails, ApprovalDetails];
  const shown = structuredClone(message);
  const release = world.slack.hold('chat.update');
  await world.deliver(world.slack.click(ann, shown, 'approve', first.requestId));
  await eventually('the update', () => world.slack.calls.includes('chat.update'));
  // The message still has all its buttons: one click is late, the other one is not in the update.
  await world.deliver(world.slack.click(bob, shown, 'approve', first.requestId));
  await world.deliver(world.slack.click(bob, shown, 'approve', second.requestId));
  const { settledAt } = (await world.details(run, first.requestId)).settled!;
  expect((await world.toldTo(bob, 2)).toSorted()).toEqual([
    `Nothing was changed: the request was settled already, approved by ann, ${instantText(settledAt)}`,
    'Your answer counts: approved. You answered as bob.',
  ]);
  release();
  await eventually('both outcomes', () => settledIn(message).length === 2);
  const outcome = (requestId: string): string =>
    JSON.stringify(message.blocks.find(({ block_id: id }) => id === `settled.${requestId}`));
  expect(outcome(first.requestId)).toContain('ann (claimed)');
  expect(outcome(second.requestId)).toContain('bob (claimed)');
  expect(message.blocks.filter(({ block_id: id = '' }) => id.startsWith('open.'))).toEqual([]);
  await run.result();
});

test('an update waits for nothing: two activities, two calls, and no more time than a few decisions take', async () => {
  const lags: number[] = [];
  const decisions: number[] = [];
  for (let count = 0; count < 5; count += 1) {
    world.slack.messages.splice(0);
    const { run, open, message } = await ask(1);
    const { requestId } = open[0]!;
    const decidedMs = performance.now();
    await world.client.decide({ requestId, approved: false, reviewerId: 'bob' }, { workflowId: run.workflowId });
    decisions.push(performance.now() - decidedMs);
    await eventually('the update', () => settledIn(message).length === 1);
    const { settledAt } = (await world.details(run, requestId)).settled!;
    lags.push(world.slack.updatedMs - Date.parse(settledAt));
    expect(world.slack.calls).toEqual(['conversations.history', 'chat.update']);

    const channels = world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
    await channels.result();
    const { events } = await channels.fetchHistory();
    const types = events!.map(
      ({ activityTaskScheduledEventAttributes: scheduled, timerStartedEventAttributes: timer }) =>
        timer === null || timer === undefined ? scheduled?.activityType?.name : 'a timer',
    );
    const signal = events!.findLastIndex((each) => each.workflowExecutionSignaledEventAttributes);
    const after = types.slice(signal).filter((each) => each !== undefined);
    // What follows is the look at requests that may come later.
    expect(after.slice(0, 2)).toEqual(['countersign.lookAtRequests', 'countersign.channelSettled']);
  }
  const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!;
  // A decision is one task of the run; an update is the run's announcement, two tasks and two activities beside it. On a
  // machine that is not busy, decisions take less than 100 ms, and the bound is the two seconds that are promised.
  expect(median(lags)).toBeLessThan(Math.max(2_000, 20 * median(decisions)));
});

test('the user writes: the message shows it, a click on the old card is refused, and one on the new card counts', async () => {
  const ann = await world.linked('ann');
  const { run, open, message } = await ask(2, { session: true });
  const [first, second] = open as [ApprovalDetails, ApprovalDetails];
  const shown = structuredClone(message);
  const before = world.slack.messages.map(({ ts }) => ts);
  const ranBefore = world.ran().length;
  await run.handle.executeUpdate('message', { args: [{ content: 'Only the first one.' }] });
  const note = await eventually('the note in the thread', () =>
    world.slack.messages.find(({ thread_ts: thread, ts }) => thread === message.ts && !before.includes(ts)),
  );
  // One update and one note for both requests.
  expect(world.slack.calls.filter((call) => ['chat.update', 'chat.postMessage'].includes(call))).toEqual([
    'chat.update',
    'chat.postMessage',
  ]);
  expect(JSON.stringify(message.blocks)).toContain('The user has written 1 message');
  expect(JSON.stringify(note.blocks)).toContain('The user has written since');
  await world.deliver(world.slack.click(ann, shown, 'approve', first.requestId));
  expect(await world.toldTo(ann, 1)).toEqual([
    `Nothing was changed: the user has written since the card of request ${first.requestId} was shown: look at it again`,
  ]);
  await world.deliver(world.slack.click(ann, message, 'approve', first.requestId));
  await world.deliver(world.slack.click(ann, message, 'deny', second.requestId));
  const view = await eventually('the modal', () => world.slack.views.at(-1));
  await world.deliver(world.slack.submit(ann, view, 'as the user says'));
  await run.awaitsUser();
  expect(world.ran().slice(ranBefore)).toEqual(['pay payee-0 0']);
  await run.handle.signal('close');
  await run.result();
});
