import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import type { RunInTest } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/**
 * A refused update wakes the run and leaves nothing in history. Anything that the run did because of it (expiring a
 * request past its deadline, continuing as new after enough history) would be missing from a replay, and the run would
 * be lost to a non-determinism error (I12). The timer that does both lags behind the deadline by the length of a task.
 */

const world = forAllTests(() => openWorld({ maxCachedWorkflows: 0, continueAsNewAfter: { historyEvents: 26 } }));

const failures = async (run: RunInTest): Promise<(string | null | undefined)[]> => {
  const { executions } = await world.client.historyChain(run.workflowId);
  return executions
    .flatMap(({ events }) => events)
    .flatMap(({ workflowTaskFailedEventAttributes: failed }) => (failed == null ? [] : [failed.failure?.message]));
};

test('just after a deadline, before its timer fires: the timer expires the request, not the update', async () => {
  const late = async (to: string): Promise<RunInTest> => {
    const { played } = await inTime(3, async (seconds) => {
      const asked = await world.start([{ calls: [{ tool: 'pay', args: { to, amount: 1 } }] }, { text: 'done' }], {
        policy: { version: 1, approval: { timeout: `${seconds}s` } },
      });
      const [request] = await asked.open();
      // From the index: a query may run ahead of an unfinished task, with a time that never becomes real.
      const [due] = (await asked.handle.describe()).searchAttributes['ApprovalDue'] as [Date];
      return { run: asked, requestId: request!.requestId, due };
    });
    const { run, requestId, due } = played;
    // A late decision would enter history: the journal keeps it. An extension is refused before.
    const extension = { requestId, until: new Date(Date.now() + 3_600_000).toISOString() };
    await eventually('the deadline passes', () => Date.now() > due.getTime());
    const refused = async (): Promise<boolean> =>
      run.handle.executeUpdate('extend', { args: [extension] }).then(
        () => false,
        () => true,
      );
    for (let tries = 0; tries < 8 && (await refused());) tries++;
    return run;
  };
  const runs = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => late(name)));
  for (const run of runs) {
    const { outcomes } = await run.result();
    expect(outcomes).toMatchObject([{ outcome: 'expired', ran: 'no' }]);
    expect(await failures(run)).toEqual([]);
  }
});

test('when the history is long enough to continue as new: the run continues with the next event', async () => {
  const calls = [1, 2].map((amount) => ({ tool: 'pay', args: { to: 'grown', amount } }));
  const run = await world.start([{ calls }, { text: 'done' }]);
  const [first, second] = await run.open(2);
  await run.handle.executeUpdate('decide', { args: [{ requestId: first!.requestId, approved: false }] });
  for (let tries = 0; tries < 12; tries++) {
    const again = run.handle.executeUpdate('decide', { args: [{ requestId: first!.requestId, approved: true }] });
    await expect(again).rejects.toMatchObject({ cause: { type: 'already_settled' } });
  }
  await run.handle.signal('decide', { requestId: second!.requestId, approved: true });
  expect((await run.result()).status).toBe('completed');
  expect(await failures(run)).toEqual([]);
  // Replays each execution, as a worker that answers a query of a closed run does.
  const { executions } = await world.client.historyChain(run.workflowId);
  for (const { runId } of executions) {
    const execution = world.client.session.client.workflow.getHandle(run.workflowId, runId);
    expect(await execution.query('run')).toMatchObject({ agent: 'tester' });
  }
});
