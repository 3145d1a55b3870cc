import { describe, expect, test } from 'vitest';
import type { temporal } from '@temporalio/proto';
import { journalIn } from '../../../src/client/history/written-by-gate.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import type { RunInTest, Turns } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/**
 * A replay merges a workflow task without commands with the next one. So a task that took a message always writes a
 * command, and the task of a refused update writes none (docs/decisions/0007).
 */

type Event = temporal.api.history.v1.IHistoryEvent;

const world = forAllTests(() => openWorld());

const policy = { version: 1, rules: [{ pattern: 'pay', action: 'ask' }] };
const waiting = async (): Promise<RunInTest> => {
  const calls = [{ tool: 'pay', args: { to: 'task', amount: 1 } }];
  const run = await world.start([{ calls }, { text: 'done' }], { policy });
  await run.open();
  return run;
};
const eventsOf = async (run: RunInTest): Promise<Event[]> => {
  const { executions } = await world.client.historyChain(run.workflowId);
  return executions.flatMap(({ events }) => events);
};
/** Events after the first one that `matches`, except those of workflow tasks. */
const writtenAfter = async (run: RunInTest, matches: (event: Event) => boolean): Promise<Event[]> => {
  const events = await eventsOf(run);
  return events
    .slice(events.findIndex(matches) + 1)
    .filter(
      (event) =>
        event.workflowTaskScheduledEventAttributes == null &&
        event.workflowTaskStartedEventAttributes == null &&
        event.workflowTaskCompletedEventAttributes == null,
    );
};
const isSignal = (event: Event): boolean => event.workflowExecutionSignaledEventAttributes != null;
const id = 'f'.repeat(32);

describe('a signal that changes nothing records its refusal in history, in one event', () => {
  test.each<[string, string, unknown, string]>([
    ['an unknown request', 'decide', { requestId: id, approved: true }, 'unknown_request'],
    ['a misshapen decision', 'decide', { approved: true }, 'invalid_decision'],
    ['an unknown grant', 'revoke', { grants: ['none'] }, 'grant_unknown'],
    ['a name that nobody handles', 'stray', 1, 'invalid_message'],
  ])('%s', async (_name, signal, message, code) => {
    const run = await waiting();
    await run.handle.signal(signal, message);
    const written = await eventually('the refusal is in history', async () => {
      const events = await writtenAfter(run, isSignal);
      return events.length > 0 && events;
    });
    expect(written).toHaveLength(1);
    expect(journalIn(written[0]!)).toMatchObject([{ kind: 'refused', code }]);
    // Its size does not depend on what is open, so repeating the signal does not fill the history.
    const { fields } = written[0]!.workflowPropertiesModifiedEventAttributes!.upsertedMemo!;
    expect(Object.keys(fields!)).toEqual(['approvalJournal']);
    await run.handle.terminate();
  });
});

test('a refused update leaves nothing', async () => {
  const run = await waiting();
  const before = (await eventsOf(run)).length;
  await expect(run.handle.executeUpdate('revoke', { args: [{ grants: ['none'] }] })).rejects.toThrow();
  await run.handle.query('run');
  expect(await eventsOf(run)).toHaveLength(before);
  expect((await run.status()).refused.total).toBe(0);
  await run.handle.terminate();
});

test('a tool that ends while another call waits costs no event', async () => {
  const calls = [
    { tool: 'look', args: { what: 'sea' } },
    { tool: 'pay', args: { to: 'task', amount: 2 } },
  ];
  const run = await world.start([{ calls }, { text: 'done' }] as Turns, { policy });
  await run.open();
  const isEnd = (event: Event): boolean =>
    event.activityTaskCompletedEventAttributes != null &&
    event.activityTaskCompletedEventAttributes.startedEventId != null;
  await eventually('the tool has ended', async () => {
    const events = await eventsOf(run);
    const lookScheduled = events.find(
      ({ activityTaskScheduledEventAttributes: each }) => each?.activityType?.name === 'look',
    );
    return events.some(
      (event) =>
        isEnd(event) && event.activityTaskCompletedEventAttributes!.scheduledEventId!.eq(lookScheduled!.eventId!),
    );
  });
  await run.handle.query('run');
  const events = await eventsOf(run);
  const last = events.findLastIndex(isEnd);
  expect(events.slice(last + 1).filter((event) => event.workflowPropertiesModifiedEventAttributes != null)).toEqual([]);
  await run.handle.terminate();
});
