/** The workflow of channels continues as new: with everything that waits, and without an end to what it can take. */
import { afterEach, expect, test } from 'vitest';
import type { WorkflowHandle } from '@temporalio/client';
import type { Channel, ChannelAnswer } from '../../src/channels/channel.ts';
import { changedName, channelsWorkflowId } from '../../src/contract.ts';
import { eventually } from '../support/eventually.ts';
import { recordedChannel } from '../support/recorded-channel.ts';
import { openWorld, type RunInTest, type World } from '../support/world.ts';

let world: World;
afterEach(() => world.close());

const channelsOf = (run: RunInTest): WorkflowHandle =>
  world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
/** The time of day, in UTC, in so many minutes. */
const soon = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16);
const idOf = (count: number): string => count.toString(16).padStart(32, '0');

/** A channel without messages. Each call of `resolve` waits; the last one for a request can be answered. */
function thinker(): Channel & {
  asked: string[];
  aborted: string[];
  answer(requestId: string, answer: ChannelAnswer): void;
} {
  const waiting = new Map<string, (answer: ChannelAnswer) => void>();
  const asked: string[] = [];
  const aborted: string[] = [];
  return {
    asked,
    aborted,
    answer: (requestId, answer) => waiting.get(requestId)!(answer),
    resolve: ({ requestId }, signal) => {
      asked.push(requestId);
      signal.addEventListener('abort', () => aborted.push(requestId));
      const { promise, resolve } = Promise.withResolvers<ChannelAnswer>();
      waiting.set(requestId, resolve);
      return promise;
    },
  };
}

/** Signals until the server suggests to continue as new, which it does from 4,096 events on, and waits until it has. */
async function floodUntilContinued(run: RunInTest): Promise<void> {
  const handle = channelsOf(run);
  const { runId } = await handle.describe();
  let sent = 0;
  while ((await handle.describe()).historyLength < 4_200) {
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => handle.signal(changedName, { requestIds: [idOf(sent + index)] })),
    );
    sent += 50;
  }
  await eventually('it continues as new', async () => (await handle.describe()).runId !== runId, 100_000);
}

test('with requests that were sent, a batch and reminders that wait for the end of the quiet hours, and a channel that thinks', async () => {
  const [team, asks] = [recordedChannel({ resolves: false, batch: true }), thinker()];
  const ask = { reviewers: ['ann'], escalate: [{ after: '1s', to: ['boss'] }], timeout: '1h' };
  world = await openWorld({
    channels: { team, asks },
    routes: { reviewers: { ann: ['team', 'asks'], boss: ['team'] } },
    quietHours: {
      from: soon(-60),
      to: soon(new Date().getUTCSeconds() < 30 ? 2 : 3),
      timeZone: 'UTC',
      above: 'medium',
    },
    policy: { version: 1, rules: [{ pattern: '*', action: 'ask', ask }] },
  });
  const pay = (to: string) => ({ tool: 'pay', args: { to, amount: 1 } });
  const run = await world.start([{ calls: [pay('ann'), pay('bob'), { tool: 'wipe', args: {} }] }, { text: 'done' }]);
  const requests = await run.open(3);
  const urgent = requests.find(({ toolName }) => toolName === 'wipe')!.requestId;
  const patient = requests.map(({ requestId }) => requestId).filter((id) => id !== urgent);
  await eventually('the channel thinks about all', () => asks.asked.length === 3);
  // The urgent one is sent, and its escalation. The others wait for more than a minute, so it joins no message of theirs.
  await eventually('the escalation is sent', () => team.notified.length === 2);
  await floodUntilContinued(run);
  expect(team.notified).toHaveLength(2);

  await eventually('the channel is asked again', () => asks.asked.length === 6);
  await eventually('the old calls are stopped', () => asks.aborted.length === 3);
  await eventually('the quiet hours end', () => team.notified.length === 5);
  const shown = team.notified.map(({ request, context }) => [
    context.step.kind,
    context.requests.length,
    request.requestId === urgent,
  ]);
  expect(shown).toEqual([
    ['asked', 1, true],
    ['escalated', 1, true],
    ['asked', 2, false],
    ['escalated', 1, false],
    ['escalated', 1, false],
  ]);
  asks.answer(urgent, { approved: false, reviewerId: 'ann' });
  for (const requestId of patient) {
    await world.client.decide({ requestId, approved: true, reviewerId: 'boss' }, { workflowId: run.workflowId });
  }
  await run.result();
  await channelsOf(run).result();
  expect(team.settlements.map(({ request }) => request.requestId).toSorted()).toEqual(
    requests.map(({ requestId }) => requestId).toSorted(),
  );
  expect(team.settlements.find(({ request }) => request.requestId === urgent)?.context.sent).toEqual({ message: 2 });
  await eventually('the other calls are stopped', () => asks.aborted.length === 5);
});
