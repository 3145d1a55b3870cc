import { describe, expect, test } from 'vitest';
import type { ApprovalDetails, Receipt } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import type { RunInTest } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/**
 * `setPolicy` affects a running run and its open requests, whether it tightens or loosens, and reports what it settled
 * (I10, I14).
 */

const world = forAllTests(() =>
  openWorld({
    policy: { rules: [{ pattern: 'wipe', action: 'ask' }], risk_defaults: { write: 'allow' } },
  }),
);

const asks = { rules: [{ pattern: 'pay', action: 'ask' }] };
const start = (to: string): Promise<RunInTest> =>
  world.start(
    [
      { calls: [1, 2].map((amount) => ({ tool: 'pay', args: { to, amount } })) },
      { calls: [{ tool: 'pay', args: { to, amount: 3 } }] },
      { text: 'told: {{lastResult}}' },
    ],
    { policy: asks },
  );
const setPolicy = (run: RunInTest, message: unknown): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [unknown]>('setPolicy', { args: [message] });
const paid = (to: string): number => world.ran().filter((line) => line.startsWith(`pay ${to} `)).length;

describe('open requests', () => {
  test('are released if the new policy allows them, and later calls are ruled by the new policy', async () => {
    const run = await start('loosen');
    const open = await run.open(2);
    const receipt = await setPolicy(run, { policy: { rules: [{ pattern: 'pay', action: 'allow' }] }, by: 'ann' });
    expect(receipt.settled).toEqual(open.map(({ requestId }) => ({ requestId, outcome: 'superseded' })));
    const { outcomes } = await run.result();
    expect(outcomes.map(({ outcome, ran }) => [outcome, ran])).toEqual([
      ['superseded', 'yes'],
      ['superseded', 'yes'],
      ['allowed', 'yes'],
    ]);
    expect(paid('loosen')).toBe(3);
  });

  test('are denied if the new policy denies them', async () => {
    const run = await start('tighten');
    await run.open(2);
    await setPolicy(run, { policy: { rules: [{ pattern: 'pay', action: 'deny', reason: 'Closed for today' }] } });
    const { outcomes, output } = await run.result();
    expect(outcomes.map(({ outcome, ran }) => [outcome, ran])).toEqual([
      ['superseded', 'no'],
      ['superseded', 'no'],
      ['denied_by_policy', 'no'],
    ]);
    expect(output).toBe('told: Denied: Closed for today');
    expect(paid('tighten')).toBe(0);
  });

  test("stay open under the new rule's reviewers, with the old deadline", async () => {
    const run = await start('reviewers');
    const [before] = await run.open(2);
    const policy = {
      rules: [{ id: 'cfo', pattern: 'pay', action: 'ask', ask: { reviewers: ['cfo'], timeout: '1h' } }],
    };
    expect(await setPolicy(run, { policy })).toMatchObject({ accepted: true, settled: [] });
    const [after] = await run.open(2);
    expect(after).toEqual({ ...before, rule: 'cfo', reason: 'Rule cfo asks', reviewers: ['cfo'], approvers: ['cfo'] });
    const decision = { requestId: after!.requestId, approved: true, reviewerId: 'ann' };
    await expect(run.handle.executeUpdate('decide', { args: [decision] })).rejects.toMatchObject({
      cause: { type: 'not_entitled' },
    });
    await run.handle.terminate();
  });

  test('keep the votes that the new rule admits, and lose the others', async () => {
    const run = await start('votes');
    const [request] = await run.open(2);
    const { requestId } = request!;
    const ruleOf = (ask: object): object => ({ rules: [{ pattern: 'pay', action: 'ask', ask }] });
    const vote = (reviewerId: string): Promise<Receipt> =>
      run.handle.executeUpdate('decide', { args: [{ requestId, approved: true, reviewerId }] });
    await setPolicy(run, { policy: ruleOf({ quorum: 3 }) });
    await vote('ann');
    await vote('bob');
    expect((await setPolicy(run, { policy: ruleOf({ reviewers: ['ann', 'cat'], quorum: 2 }) })).settled).toEqual([]);
    const details = await run.handle.query<ApprovalDetails, [unknown]>('approvals', { requestId });
    expect(details.votes?.map(({ reviewerId }) => reviewerId)).toEqual(['ann']);
    const { settled } = await setPolicy(run, { policy: ruleOf({ reviewers: ['ann'] }) });
    expect(settled).toEqual([{ requestId, outcome: 'approved' }]);
    await run.handle.terminate();
  });

  test('a mode has the same effect as a policy', async () => {
    const run = await start('mode');
    const open = await run.open(2);
    const receipt = await setPolicy(run, { mode: 'dontAsk' });
    expect(receipt.settled).toHaveLength(open.length);
    expect(await run.result()).toMatchObject({ output: `told: Denied: Policy denies 'pay' (mode dontAsk)` });
  });
});

test('a change by signal; the last change counts', async () => {
  const run = await start('signal');
  await run.open(2);
  // The first settles nothing; the run continues only after both are read.
  await run.handle.signal('setPolicy', {
    policy: { rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'] } }] },
  });
  await run.handle.signal('setPolicy', { policy: { rules: [{ pattern: 'pay', action: 'deny' }] } });
  const { outcomes } = await run.result();
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['superseded', 'superseded', 'denied_by_policy']);
});

test.each<[string, unknown, string]>([
  ['a policy that does not load', { policy: { rules: [{ pattern: 'pay', action: 'maybe' }] } }, 'policy_invalid'],
  ['neither policy nor mode', { by: 'ann' }, 'policy_invalid'],
  ['an unknown mode', { mode: 'yolo' }, 'policy_invalid'],
  ['a channel that the run does not have', { mode: 'plan', channels: ['fax'] }, 'policy_invalid'],
  ['channels that are no list', { mode: 'plan', channels: 'all' }, 'policy_invalid'],
  ['a text', 'plan', 'invalid_message'],
  ['an unknown field', { mode: 'plan', force: true }, 'invalid_message'],
])('%s: refused, and nothing changes', async (_, message, code) => {
  const run = await start('bad');
  await run.open(2);
  await expect(setPolicy(run, message)).rejects.toMatchObject({ cause: { type: code } });
  expect(await run.status()).toMatchObject({ counts: { open: 2 } });
  await run.handle.terminate();
});

test('it never exceeds the ceiling', async () => {
  const run = await world.start([{ calls: [{ tool: 'wipe', args: {} }] }, { text: 'told: {{lastResult}}' }]);
  await run.open();
  const allowAll = { policy: { rules: [{ pattern: '*', action: 'allow' }] }, mode: 'bypassPermissions' };
  expect(await setPolicy(run, allowAll)).toMatchObject({ accepted: true, settled: [] });
  expect(await run.status()).toMatchObject({ counts: { open: 1 } });
  await run.handle.terminate();
});

test('the change is carried when the run continues as new', async () => {
  const small = await openWorld({ continueAsNewAfter: { historyEvents: 25, updates: 100 } });
  try {
    const calls = Array.from({ length: 12 }, (_, amount) => ({
      calls: [{ tool: 'pay', args: { to: 'far', amount } }],
    }));
    const run = await small.start([...calls, { text: 'end' }], { policy: asks });
    await run.open();
    await setPolicy(run, { policy: { rules: [{ pattern: 'pay', action: 'allow' }] } });
    const { outcomes } = await run.result();
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      'superseded',
      ...Array.from({ length: 11 }, () => 'allowed'),
    ]);
    const chain = await small.client.historyChain(run.workflowId);
    expect(chain.executions.length).toBeGreaterThan(1);
  } finally {
    await small.close();
  }
});

test('a change that arrives before the run has begun is applied once it has', async () => {
  await world.stopWorker();
  const run = await start('early');
  // A mode needs no activity, which could take longer than the model.
  await run.handle.signal('setPolicy', { mode: 'dontAsk' });
  await world.startWorker();
  const { outcomes } = await run.result();
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 3 }, () => 'denied_by_policy'));
});
