import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Receipt } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import type { RunInTest } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/**
 * Messages that arrive after a run has continued as new and before its next execution has begun reach the handlers
 * before the policies are known. They wait for the policies, and count (I11).
 */

const world = forAllTests(() => openWorld({ continueAsNewAfter: { historyEvents: 40 } }));

/** Stops the worker when an execution has ended and the next has done nothing yet. */
async function stopBetweenExecutions(run: RunInTest): Promise<void> {
  let known = 1;
  await eventually('an execution that has not begun', async () => {
    if (known > 1) await world.startWorker();
    // The stray signal after this length makes the execution continue as new: the worker takes that task and no
    // other.
    while ((await run.handle.describe()).historyLength < 37) await run.handle.signal('stray');
    await run.handle.signal('stray');
    // That moment is not observable from outside, and a busy machine reaches it later, so each attempt stops a little
    // later; of fifteen attempts each fifteen reach twice as far as those before.
    const [round, step] = [Math.floor((known - 1) / 15), (known - 1) % 15];
    await sleep(step * 8 * 2 ** round);
    await world.stopWorker();
    const { executions } = await world.client.historyChain(run.workflowId);
    known++;
    return executions.at(-1)!.events.every((event) => event.workflowTaskCompletedEventAttributes == null);
    // A task that a stopping worker takes and drops is retried after ten seconds.
  });
}

test('a decision by signal and one by update, before the first task of an execution', async () => {
  const calls = [1, 2].map((amount) => ({ tool: 'pay', args: { to: 'early', amount } }));
  const run = await world.start([{ calls }, { text: 'done' }], {
    policy: {
      version: 1,
      directory: { people: { ann: { groups: ['finance'] } } },
      rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['group:finance'] } }],
    },
  });
  const [first, second] = await run.open(2);
  await stopBetweenExecutions(run);
  const by = { reviewerId: 'ann' };
  await run.handle.signal('decide', { requestId: first!.requestId, approved: true, ...by });
  const answered = run.handle.executeUpdate<Receipt, [object]>('decide', {
    args: [{ requestId: second!.requestId, approved: false, ...by }],
  });
  await world.startWorker();
  expect(await answered).toMatchObject({ accepted: true, outcome: 'denied' });
  const { outcomes } = await run.result();
  expect(outcomes.map(({ callId, outcome, ran }) => `${callId} ${outcome} ${ran}`).toSorted()).toEqual([
    '1.1 approved yes',
    '1.2 denied no',
  ]);
  expect((await run.status()).refused.last.filter(({ code }) => code !== 'invalid_message')).toEqual([]);
});

test('signals of several kinds before the first task of an execution are applied in order of arrival', async () => {
  const calls = [3, 4].map((amount) => ({ tool: 'pay', args: { to: 'early', amount } }));
  const run = await world.start([{ calls }, { text: 'done' }], {
    policy: { version: 1, rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'] } }] },
  });
  const [first] = await run.open(2);
  const { requestId } = first!;
  await stopBetweenExecutions(run);
  await run.handle.signal('delegate', { requestId, to: 'dan', by: 'ann' });
  await run.handle.signal('decide', { requestId, approved: true, reviewerId: 'dan' });
  await run.handle.signal('close');
  await world.startWorker();
  const { status, outcomes } = await run.result();
  expect(status).toBe('closed');
  // A closed run starts nothing new.
  expect(outcomes.map(({ callId, outcome, ran }) => `${callId} ${outcome} ${ran}`).toSorted()).toEqual([
    '1.1 approved no',
    '1.2 cancelled no',
  ]);
});
