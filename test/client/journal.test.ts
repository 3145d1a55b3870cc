import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, test } from 'vitest';
import { forAllTests } from '../support/for-all-tests.ts';
import { projectHistories } from '../support/read-histories.ts';
import { openWorld } from '../support/world.ts';

/** `client.journal` reads what a run decided from history alone, without a worker. */

const world = forAllTests(() => openWorld({ continueAsNewAfter: { historyEvents: 20 } }));

test('the journal of a run over several executions, without a worker', async () => {
  const pay = (amount: number) => ({ calls: [{ tool: 'pay', args: { to: 'journal', amount } }] });
  const run = await world.start([pay(1), pay(2), { text: 'done' }]);
  const [first] = await run.open();
  await world.client.decide({ requestId: first!.requestId, approved: true, reviewerId: 'ann' });
  const [second] = await run.open();
  await world.client.decide({ requestId: second!.requestId, approved: false, reason: 'Too much' });
  await run.result();
  await world.stopWorker();
  const { entries, requests, outcomes, refusals, gaps, missing } = await world.client.journal(run.workflowId);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
  expect(requests).toMatchObject([
    { requestId: first!.requestId, toolName: 'pay', outcome: 'approved', reviewerId: 'ann' },
    { requestId: second!.requestId, toolName: 'pay', outcome: 'denied', reason: 'Too much' },
  ]);
  expect(outcomes.map(({ outcome, ran }) => [outcome, ran])).toEqual([
    ['approved', 'yes'],
    ['denied', 'no'],
  ]);
  expect({ refusals, gaps, missing }).toEqual({ refusals: 0, gaps: [] });
});

test('what the channel says that was shown is in the journal', async () => {
  await world.startWorker();
  const policy = { rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann', 'bob'], quorum: 2 } }] };
  const calls = [{ tool: 'pay', args: { to: 'viewed', amount: 1 } }];
  const run = await world.start([{ calls }, { text: 'done' }], { policy });
  const [request] = await run.open();
  const { requestId } = request!;
  const card = 'c'.repeat(64);
  const byAnn = { channel: 'slack', card, durationMs: 4_200, batch: 3 };
  await world.client.decide({ requestId, approved: true, reviewerId: 'ann', viewed: byAnn });
  await run.handle.signal('decide', { requestId, approved: true, reviewerId: 'bob', viewed: { card: 'none' } });
  await run.handle.signal('decide', { requestId, approved: true, reviewerId: 'bob', viewed: { channel: 'mail' } });
  await run.result();
  const { entries, requests, refusals } = await world.client.journal(run.workflowId);
  const viewedIn = (kind: string): unknown[] =>
    entries.filter((each) => each.kind === kind).map(({ viewed }) => viewed);
  expect(viewedIn('vote')).toEqual([byAnn]);
  expect(viewedIn('settled')).toEqual([{ channel: 'mail' }]);
  expect(viewedIn('opened')).toEqual([undefined]);
  expect(requests).toMatchObject([{ requestId, outcome: 'approved', viewed: { channel: 'mail' } }]);
  expect(refusals).toBe(1);
});

test('the stored history of a workflow of its own, over two executions', () => {
  const executions = [1, 2].map((execution) => {
    const file = join(import.meta.dirname, `../histories/0.1.0-orders-of-ones-own-execution-${execution}.json`);
    return historyFromJSON(JSON.parse(readFileSync(file, 'utf8')));
  });
  const { entries, gaps } = projectHistories(executions);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
  expect(entries.length).toBeGreaterThan(4);
  expect(gaps).toEqual([]);
});

test('a run that does not exist', async () => {
  await expect(world.client.journal('no-such-run')).rejects.toMatchObject({ code: 'run_not_found' });
});
