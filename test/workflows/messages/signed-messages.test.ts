/** Signatures, verified where a run verifies them: in the workflow, with the bundle that workers load. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  createReviewerKey,
  signDecision,
  signMessage,
  type SigningOptions,
} from '../../../src/client/send/sign-message.ts';
import type { ApprovalDetails, Decision } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld, type RunInTest } from '../../support/world.ts';

const begunAtMs = Date.now();
/** Instants of this test run. A later one is refused where it is more than ten minutes ahead. */
const at = (second: number): string => new Date(begunAtMs + second * 1_000).toISOString();

const keys = {
  ann: createReviewerKey(),
  bob: createReviewerKey(),
  operator: createReviewerKey(),
  gateway: createReviewerKey(),
};
const policy = {
  rules: [
    { pattern: 'pay', action: 'ask', ask: { reviewers: ['group:finance'], quorum: 2, verified: true } },
    { pattern: 'echo', action: 'ask', ask: { reviewers: ['group:finance'] } },
  ],
  directory: {
    people: {
      ann: { groups: ['finance'], keys: ['ann-laptop'] },
      bob: { groups: ['finance'], keys: ['bob-phone'] },
    },
  },
  reviewer_keys: {
    'ann-laptop': keys.ann.publicKey,
    'bob-phone': keys.bob.publicKey,
    desk: { public_key: keys.operator.publicKey, operator: true },
    gateway: { public_key: keys.gateway.publicKey, signs_for: ['group:finance'] },
  },
};

const world = forAllTests(() => openWorld({ policy }));

const pay = { calls: [{ tool: 'pay', args: { to: 'p', amount: 1 } }] };
async function startAsking(call = pay): Promise<{ run: RunInTest; requestId: string; workflowId: string }> {
  const run = await world.start([call, { text: '{{lastResult}}' }]);
  const [request] = await run.open(call.calls.length);
  return { run, requestId: request!.requestId, workflowId: run.workflowId };
}
const by = (who: 'ann' | 'bob', workflowId: string, namespace = 'default'): SigningOptions => ({
  keyId: who === 'ann' ? 'ann-laptop' : 'bob-phone',
  privateKey: keys[who].privateKey,
  workflowId,
  namespace,
});
const refusalOf = (decision: Decision, workflowId: string): Promise<unknown> =>
  world.client.decide(decision, { workflowId }).then(
    (receipt) => receipt.message,
    (error: unknown) => (error as { code?: string }).code,
  );

test('two signatures approve; the run knows the signers', async () => {
  const { run, requestId, workflowId } = await startAsking();
  const first = signDecision({ requestId, approved: true, reviewerId: 'ann' }, by('ann', workflowId));
  await expect(world.client.decide(first, { workflowId })).resolves.toMatchObject({
    accepted: true,
    votes: { have: 1, need: 2 },
  });
  // Without a name: the key identifies the signer.
  const second = signDecision({ requestId, approved: true }, by('bob', workflowId));
  await expect(world.client.decide(second, { workflowId })).resolves.toMatchObject({
    accepted: true,
    outcome: 'approved',
  });
  await expect(run.result()).resolves.toMatchObject({ output: 'paid 1 to p' });
  await expect(run.handle.query<ApprovalDetails, [object]>('approvals', { requestId })).resolves.toMatchObject({
    settled: { outcome: 'approved', reviewerId: 'bob', identity: 'verified' },
  });
});

test('a gateway signs for the people whom it authenticated', async () => {
  const { run, requestId, workflowId } = await startAsking();
  const { privateKey } = keys.gateway;
  const to: SigningOptions = { keyId: 'gateway', privateKey, workflowId, namespace: 'default' };
  const signed = (reviewerId?: string) => signDecision({ requestId, approved: true, reviewerId }, to);
  for (const refused of [signed(), signed('zoe'), { ...signed('ann'), reviewerId: 'bob' }]) {
    expect(await refusalOf(refused, workflowId)).toBe('unverified_reviewer');
  }
  const first = await world.client.decide(signed('ann'), { workflowId });
  expect(first.votes).toEqual({ have: 1, need: 2 });
  expect(await world.client.decide(signed('bob'), { workflowId })).toMatchObject({ outcome: 'approved' });
  await expect(run.result()).resolves.toMatchObject({ output: 'paid 1 to p' });
  await expect(run.handle.query<ApprovalDetails, [object]>('approvals', { requestId })).resolves.toMatchObject({
    settled: { outcome: 'approved', reviewerId: 'bob', identity: 'verified' },
  });
});

describe('what does not count, and leaves the request unchanged', () => {
  test.each<[string, (requestId: string, workflowId: string) => Decision]>([
    ['a claim', (requestId) => ({ requestId, approved: true, reviewerId: 'ann' })],
    ['nobody', (requestId) => ({ requestId, approved: true })],
    ['signed for another run', (requestId) => signDecision({ requestId, approved: true }, by('ann', 'another'))],
    [
      'signed for another namespace',
      (requestId, run) => signDecision({ requestId, approved: true }, by('ann', run, 'prod')),
    ],
    [
      'another’s name',
      (requestId, run) => signDecision({ requestId, approved: true, reviewerId: 'bob' }, by('ann', run)),
    ],
    [
      'an unknown key',
      (requestId, run) => signDecision({ requestId, approved: true }, { ...by('ann', run), keyId: 'x' }),
    ],
    [
      'another’s key',
      (requestId, run) => signDecision({ requestId, approved: true }, { ...by('ann', run), keyId: 'bob-phone' }),
    ],
    [
      'changed afterwards',
      (requestId, run) => ({ ...signDecision({ requestId, approved: false }, by('ann', run)), approved: true }),
    ],
  ])('%s', async (_, make) => {
    const { run, requestId, workflowId } = await startAsking();
    const decision = make(requestId, workflowId);
    expect(await refusalOf(decision, workflowId)).toBe('unverified_reviewer');
    await run.handle.signal('decide', decision);
    await eventually('the refused signal', async () => {
      const { refused } = await run.status();
      return refused.last.some(({ code }) => code === 'unverified_reviewer');
    });
    expect(await run.open()).toHaveLength(1);
    await run.handle.terminate();
  });

  test('a signature for an ended request does not apply to the next', async () => {
    const { run, requestId, workflowId } = await startAsking({
      calls: [...pay.calls, { tool: 'pay', args: { to: 'q', amount: 2 } }],
    });
    const other = (await run.open(2)).find((request) => request.requestId !== requestId)!.requestId;
    const signed = signDecision({ requestId, approved: false }, by('ann', workflowId));
    await world.client.decide(signed, { workflowId });
    expect(await refusalOf({ ...signed, requestId: other }, workflowId)).toBe('unverified_reviewer');
    await run.handle.terminate();
  });

  test('a bad signature does not count as a claim, even if a claim would be enough', async () => {
    const { run, requestId, workflowId } = await startAsking({
      calls: [{ tool: 'echo', args: { to: '', amount: 0 } }],
    });
    const forged = signDecision({ requestId, approved: true, reviewerId: 'ann' }, by('ann', 'another'));
    expect(await refusalOf(forged, workflowId)).toBe('unverified_reviewer');
    await expect(
      world.client.decide({ requestId, approved: true, reviewerId: 'ann' }, { workflowId }),
    ).resolves.toMatchObject({
      outcome: 'approved',
    });
    await run.result();
  });
});

test('by signal alone, as from any language', async () => {
  const { run, requestId, workflowId } = await startAsking();
  for (const who of ['ann', 'bob'] as const) {
    await run.handle.signal('decide', signDecision({ requestId, approved: true }, by(who, workflowId)));
  }
  await expect(run.result()).resolves.toMatchObject({ output: 'paid 1 to p' });
});

describe('the client signs for the run that it finds', () => {
  const ann = { keyId: 'ann-laptop', privateKey: keys.ann.privateKey };
  const bob = { keyId: 'bob-phone', privateKey: keys.bob.privateKey };

  test('decisions, found by request id alone', async () => {
    const { run, requestId } = await startAsking();
    await expect(world.client.decide({ requestId, approved: true }, { sign: ann })).resolves.toMatchObject({
      votes: { have: 1, need: 2 },
    });
    await expect(world.client.decide([{ requestId, approved: true }], { sign: bob })).resolves.toMatchObject([
      { outcome: 'approved' },
    ]);
    await run.result();
  });

  test('a delegation, and a policy change', async () => {
    const { run, requestId, workflowId } = await startAsking();
    const delegation = { requestId, to: 'bob' };
    await expect(world.client.delegate(delegation)).rejects.toMatchObject({ code: 'unverified_reviewer' });
    // Both are needed, and each for themselves.
    await expect(world.client.delegate(delegation, { sign: ann })).rejects.toMatchObject({ code: 'invalid_message' });
    const other = await startAsking({ calls: [{ tool: 'echo', args: { text: 'x' } }] } as never);
    const alone = { ...delegation, requestId: other.requestId };
    await expect(world.client.delegate(alone, { sign: ann })).resolves.toMatchObject({ accepted: true });
    await other.run.handle.terminate();
    const operator = { keyId: 'desk', privateKey: keys.operator.privateKey };
    const change = { mode: 'plan' as const };
    await expect(world.client.setPolicy(workflowId, change, { sign: ann })).rejects.toMatchObject({
      code: 'not_permitted_by_ceiling',
    });
    await expect(world.client.setPolicy(workflowId, change, { sign: operator })).resolves.toMatchObject({
      accepted: true,
    });
    await run.result();
  });
});

test("an operator's key changes the policy, a reviewer's does not", async () => {
  const { run, workflowId } = await startAsking();
  const change = { mode: 'plan' };
  const send = (keyId: string, privateKey: string): Promise<unknown> =>
    run.handle.executeUpdate('setPolicy', {
      args: [signMessage('setPolicy', change, { keyId, privateKey, workflowId, namespace: 'default' })],
    });
  await expect(send('ann-laptop', keys.ann.privateKey)).rejects.toMatchObject({
    cause: { type: 'not_permitted_by_ceiling' },
  });
  await expect(send('desk', keys.operator.privateKey)).resolves.toMatchObject({ accepted: true });
  await run.handle.terminate();
});

test('what an operator signed counts again in the next run under the same workflow id', async () => {
  const { run, workflowId } = await startAsking();
  const operator = { keyId: 'desk', privateKey: keys.operator.privateKey, workflowId, namespace: 'default' };
  const args: [object] = [signMessage('setPolicy', { mode: 'plan' }, operator)];
  await run.handle.executeUpdate('setPolicy', { args });
  await run.handle.terminate();
  const { workflow } = world.client.session.client;
  const input = { agent: 'tester', input: JSON.stringify([pay, { text: 'done' }]) };
  await workflow.start('agentRun', { workflowId, taskQueue: world.taskQueue, args: [input] });
  const next = world.run(workflowId);
  expect(await next.open()).toHaveLength(1);
  await expect(next.handle.executeUpdate('setPolicy', { args })).resolves.toMatchObject({ accepted: true });
  expect(await next.result()).toMatchObject({ outcomes: [{ outcome: 'superseded', ran: 'no' }] });
});

test("an operator's change that is repeated while others are in flight is not applied after them", async () => {
  const own = await openWorld({
    policy: {
      ...policy,
      rules: [...policy.rules, { pattern: 'look', action: 'allow' }, { pattern: 'wipe', action: 'allow' }],
    },
  });
  try {
    const run = await own.start([pay, { calls: [{ tool: 'wipe', args: {} }] }, { text: '{{lastResult}}' }]);
    await run.open();
    await own.stopWorker();
    const change = (mode: string, signedAt: string): object =>
      signMessage(
        'setPolicy',
        { mode },
        {
          keyId: 'desk',
          privateKey: keys.operator.privateKey,
          workflowId: run.workflowId,
          namespace: 'default',
          signedAt,
        },
      );
    const loosened = change('bypassPermissions', at(0));
    const tightened = change('auto_deny', at(1));
    for (const message of [loosened, tightened, loosened]) await run.handle.signal('setPolicy', message);
    await own.startWorker();
    await expect(run.result()).resolves.toMatchObject({ output: expect.stringContaining('Denied:') });
    expect(own.ran()).toEqual([]);
  } finally {
    await own.close();
  }
});

describe('a signed message without an id is identified by its signature', () => {
  const extension = async () => {
    const { run, requestId, workflowId } = await startAsking();
    const [request] = await run.open();
    const until = new Date(Date.parse(request!.deadline!) + 60_000).toISOString();
    const message = signMessage('extend', { requestId, until, messageId: undefined }, by('ann', workflowId));
    return { run, workflowId, message: JSON.parse(JSON.stringify(message)) as typeof message };
  };

  test('again, by update or by signal: the first receipt', async () => {
    const { run, workflowId, message } = await extension();
    const first = await world.client.extend(message, { workflowId });
    expect(first).toMatchObject({ accepted: true });
    expect(await world.client.extend(message, { workflowId })).toEqual(first);
    // As a separate update, as another service sends it.
    expect(await run.handle.executeUpdate('extend', { args: [message] })).toEqual(first);
    await run.handle.signal('extend', message);
    await run.handle.signal('noise');
    const { refused } = await eventually('both signals are handled', async () => {
      const status = await run.status();
      return status.refused.total > 0 && status;
    });
    expect(refused).toMatchObject({ total: 1, last: [{ code: 'invalid_message', size: 0 }] });
    const messageId = `signature:${message.signature.value}`;
    expect(await run.handle.query('receipt', { messageId })).toEqual(first);
    await run.handle.terminate();
  });

  test('recorded while no worker is alive: a repetition returns its result', async () => {
    const { run, workflowId, message } = await extension();
    await world.stopWorker();
    const options = { workflowId, timeoutMs: 2_000 };
    expect(await world.client.extend(message, options)).toMatchObject({ recorded: true });
    await world.startWorker();
    const receipt = await eventually('it is applied', async () => {
      const answer = await world.client.extend(message, options);
      return answer.recorded !== true && answer;
    });
    expect(receipt).toMatchObject({ accepted: true, message: expect.stringContaining('waits until') });
    expect((await run.status()).refused.total).toBe(0);
    await run.handle.terminate();
  });
});

describe('a message that is signed again is a retry', () => {
  test('a decision, by update and by signal, while its request is open and afterwards: the first receipt', async () => {
    const { run, requestId, workflowId } = await startAsking();
    const decisionId = randomUUID();
    const signed = (second: number): Decision =>
      signDecision({ requestId, approved: true, decisionId }, { ...by('ann', workflowId), signedAt: at(second) });
    const first = await world.client.decide(signed(1), { workflowId });
    expect(first).toMatchObject({ accepted: true, votes: { have: 1, need: 2 } });
    expect(await world.client.decide(signed(2), { workflowId })).toEqual(first);
    await run.handle.signal('decide', signed(3));
    await world.client.decide(
      { requestId, approved: true },
      { workflowId, sign: { keyId: 'bob-phone', privateKey: keys.bob.privateKey } },
    );
    await run.result();
    // The run is over: the client looks at what became of the decision.
    const again = await world.client.decide(signed(4), { workflowId, timeoutMs: 60_000 });
    expect(again).toMatchObject({ accepted: true, outcome: 'approved' });
    expect((await run.status()).refused.total).toBe(0);
    const { votes } = await run.handle.query<ApprovalDetails, [object]>('approvals', { requestId });
    expect(votes).toMatchObject([
      { reviewerId: 'ann', identity: 'verified', decisionId },
      { reviewerId: 'bob', identity: 'verified' },
    ]);
  });

  test('an extension and a change of policy: the first receipt, by update, by signal and when the run is over', async () => {
    const { run, requestId, workflowId } = await startAsking();
    const [request] = await run.open();
    const until = new Date(Date.parse(request!.deadline!) + 60_000).toISOString();
    const extended = (second: number) =>
      signMessage(
        'extend',
        { requestId, until, messageId: 'more' },
        { ...by('ann', workflowId), signedAt: at(second) },
      );
    const desk = { keyId: 'desk', privateKey: keys.operator.privateKey, workflowId, namespace: 'default' };
    const changed = (second: number) =>
      signMessage('setPolicy', { mode: 'plan' as const, messageId: 'plan' }, { ...desk, signedAt: at(second) });
    const first = await world.client.extend(extended(1), { workflowId });
    expect(await world.client.extend(extended(2), { workflowId })).toEqual(first);
    await run.handle.signal('extend', extended(3));
    const policy = await world.client.setPolicy(workflowId, changed(4));
    await run.handle.signal('setPolicy', changed(5));
    await run.result();
    expect(await world.client.setPolicy(workflowId, changed(6), { timeoutMs: 60_000 })).toEqual(policy);
    expect((await run.status()).refused.total).toBe(0);
  });

  test('once the run is over and its worker is slow: the client waits for the answer', async () => {
    const { run, requestId, workflowId } = await startAsking();
    const signed = signDecision({ requestId, approved: false, decisionId: randomUUID() }, by('ann', workflowId));
    await world.client.decide(signed, { workflowId });
    await run.result();
    await world.stopWorker();
    const again = world.client.decide(signed, { workflowId, timeoutMs: 60_000 });
    const glanced = Date.now() + world.client.session.limits.glanceTimeoutMs + 500;
    await eventually('a glance would be over', () => Date.now() > glanced);
    await world.startWorker();
    expect(await again).toMatchObject({ accepted: true, outcome: 'denied' });
  });

  test('never with another key, without a signature or with other content', async () => {
    const { run, requestId, workflowId } = await startAsking();
    const content = { requestId, approved: true, reviewerId: 'ann', decisionId: randomUUID() };
    await world.client.decide(signDecision(content, by('ann', workflowId)), { workflowId });
    const { privateKey } = keys.gateway;
    const gateway = { keyId: 'gateway', privateKey, workflowId, namespace: 'default' };
    for (const [other, code] of [
      [content, 'unverified_reviewer'],
      [signDecision(content, gateway), 'already_settled'],
      [signDecision({ ...content, reason: 'Checked' }, by('ann', workflowId)), 'already_settled'],
    ] as const) {
      expect(await refusalOf(other, workflowId)).toBe(code);
    }
    const votes = async () => (await run.handle.query<ApprovalDetails, [object]>('approvals', { requestId })).votes;
    expect(await votes()).toMatchObject([{ reviewerId: 'ann', identity: 'verified' }]);
    const forged = { ...content, signature: { keyId: 'ann-laptop', signedAt: at(1), value: 'A'.repeat(88) } };
    expect(await refusalOf(forged, workflowId)).toBe('unverified_reviewer');
    expect(await votes()).toHaveLength(1);
    await run.handle.terminate();
  });
});
