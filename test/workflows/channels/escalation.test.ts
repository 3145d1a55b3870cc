import { expect, test } from 'vitest';
import { tsToMs } from '@temporalio/common/lib/time.js';
import type { Receipt } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { journalIn } from '../../../src/client/history/written-by-gate.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import type { RunInTest } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/**
 * The escalation steps of a waiting request on the real server; for hours and days, see test/e2e/recovery/time-skipping.test.ts.
 */

const world = forAllTests(() => openWorld());

const start = (ask: JsonObject): Promise<RunInTest> =>
  world.start([{ calls: [{ tool: 'pay', args: { to: 'ladder', amount: 1 } }] }, { text: 'told: {{lastResult}}' }], {
    policy: { rules: [{ pattern: 'pay', action: 'ask', ask }] },
  });

/** The journal of a run, read from its history, as `KIND` or `KIND to NAMES`. */
async function journal(run: RunInTest): Promise<string[]> {
  const { executions } = await world.client.historyChain(run.workflowId);
  const entries = executions.flatMap(({ events }) => events.flatMap(journalIn));
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]));
  return [...bySeq.values()]
    .toSorted((one, other) => one.seq - other.seq)
    .map(({ kind, to }) => (to === undefined ? kind : `${kind} to ${to.join(' ')}`));
}

const notified = async (run: RunInTest): Promise<number> => {
  const { events = [] } = await run.handle.fetchHistory();
  const types = events!.map((each) => each.activityTaskScheduledEventAttributes?.activityType?.name);
  return types.filter((name) => name === 'countersign.notify').length;
};

test('escalation, then a warning; each is in the journal, and people are notified', async () => {
  const run = await start({
    reviewers: ['ann'],
    timeout: '1m',
    escalate: [{ after: '300ms', to: ['cfo'] }],
    warn_before: '59s',
  });
  const [request] = await run.open();
  await eventually('both steps', async () => (await notified(run)) === 2);
  const { requestId, deadline } = request!;
  expect((await run.status()).waitingFor).toEqual([
    { requestId, toolName: 'pay', reviewers: ['ann', 'cfo'], deadline },
  ]);
  const at = new Date(Date.parse(request!.requestedAt) + 300).toISOString();
  const { escalated, approvers } = await world.client.approvals.get(requestId, { workflowId: run.workflowId });
  expect({ escalated, approvers }).toEqual({ escalated: [{ at, to: ['cfo'] }], approvers: ['ann', 'cfo'] });
  const { approvals } = await world.client.approvals.list({ workflowId: run.workflowId });
  expect(approvals).toMatchObject([{ requestId, reviewers: ['ann', 'cfo'], escalated: [{ at, to: ['cfo'] }] }]);
  await run.handle.signal('decide', { requestId, approved: true, reviewerId: 'cfo' });
  expect(await run.result()).toMatchObject({ output: 'told: paid 1 to ladder' });
  expect(await run.status()).not.toHaveProperty('waitingFor');
  expect(await journal(run)).toEqual(['opened to ann', 'escalated to cfo', 'warned', 'settled', 'ran']);
});

test('an added reviewer may answer, but not before being added', async () => {
  const { played } = await inTime(2, async (seconds) => {
    const run = await start({ reviewers: ['ann'], escalate: [{ after: `${seconds}s`, to: ['cfo'] }] });
    const [request] = await run.open();
    const decision = { requestId: request!.requestId, approved: true, reviewerId: 'cfo' };
    const approve = (): Promise<Receipt> => run.handle.executeUpdate('decide', { args: [decision] });
    const early: unknown = await approve().catch((error: unknown) => error);
    return { run, approve, early };
  });
  const { run, approve, early } = played;
  expect(early).toMatchObject({ cause: { type: 'not_entitled' } });
  await eventually('cfo to be asked', async () => {
    const [now] = await run.open();
    return now!.reviewers.includes('cfo');
  });
  expect(await approve()).toMatchObject({ outcome: 'approved' });
  await run.result();
});

test('reminders repeat; those that a stopped worker missed are merged into one', async () => {
  const run = await start({ remind: '1s' });
  await run.open();
  await eventually('two reminders', async () => (await notified(run)) >= 2);
  await world.stopWorker();
  const before = await notified(run);
  const restartAtMs = Date.now() + 5_000;
  await eventually('five reminders to be missed', () => Date.now() > restartAtMs);
  await world.startWorker();
  await eventually('another reminder', async () => (await notified(run)) > before);
  const [request] = await run.open();
  await run.handle.signal('decide', { requestId: request!.requestId, approved: false });
  await run.result();
  // Without merging, those that were missed would follow each other at once. A reminder that is recorded late may share
  // its second with the next one.
  const { events } = await run.handle.fetchHistory();
  const seconds = events!
    .filter((each) => each.activityTaskScheduledEventAttributes?.activityType?.name === 'countersign.notify')
    .map(({ eventTime }) => Math.floor((tsToMs(eventTime) - Date.parse(request!.requestedAt)) / 1_000));
  const bySecond = [...Map.groupBy(seconds, (second) => second).values()];
  expect(Math.max(...bySecond.map((same) => same.length))).toBeLessThanOrEqual(2);
});

test('a reviewer can extend a request, but not past the ceiling', async () => {
  const { played, seconds } = await inTime(8, async (timeoutS) => {
    const asked = await start({ timeout: `${timeoutS}s` });
    const [request] = await asked.open();
    const { requestId, deadline, requestedAt } = request!;
    const extend = (until: string, more = {}): Promise<Receipt> =>
      asked.handle.executeUpdate('extend', { args: [{ requestId, until, ...more }] });
    const at = (ms: number): string => new Date(Date.parse(requestedAt) + ms).toISOString();
    const later = at((timeoutS + 4) * 1_000);
    const given = [at(500), 'tomorrow', at(25 * 3_600_000)];
    const refusals: unknown[] = [];
    for (const until of given) refusals.push(await extend(until).catch((error: unknown) => error));
    const receipt = await extend(later, { by: 'ann', reason: 'At lunch' });
    return { run: asked, deadline, later, refusals, receipt, now: (await asked.open())[0]! };
  });
  const { run, deadline, later, refusals, receipt, now } = played;
  expect(refusals).toMatchObject(
    ['invalid_message', 'invalid_message', 'not_permitted_by_ceiling'].map((type) => ({ cause: { type } })),
  );
  expect(receipt).toMatchObject({ accepted: true });
  expect(now.deadline).toBe(later);
  await eventually('the first deadline to pass', () => Date.now() > Date.parse(deadline!) + 300);
  expect(await run.status()).toMatchObject({ counts: { open: 1 } });
  expect(await run.result()).toMatchObject({ output: `told: Denied: no decision within ${seconds + 4}s` });
});
