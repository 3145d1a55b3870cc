/** Keys and people whom the operator revokes while runs are open. */
import { afterEach, expect, test } from 'vitest';
import {
  createReviewerKey,
  signDecision,
  signMessage,
  type SigningOptions,
} from '../../../src/client/send/sign-message.ts';
import type { WorkerOptions } from '../../../src/worker.ts';
import type { Decision } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld, type RunInTest, type World } from '../../support/world.ts';

const keys = { ann: createReviewerKey(), desk: createReviewerKey() };
const rules = [
  { pattern: 'pay', action: 'ask', ask: { reviewers: ['group:finance'], verified: true } },
  { pattern: 'echo', action: 'ask', ask: { reviewers: ['ann', 'bob'] } },
];
const policy = {
  rules,
  directory: {
    people: {
      ann: { groups: ['finance'], keys: ['ann-laptop'], also: ['u.17'] },
      bob: {},
      zoe: { keys: ['desk'] },
    },
  },
  reviewer_keys: { 'ann-laptop': keys.ann.publicKey, desk: { public_key: keys.desk.publicKey, operator: true } },
};
const pay = { tool: 'pay', args: { to: 'p', amount: 1 } };
const echo = { tool: 'echo', args: { text: 'e' } };

let world: World;
afterEach(() => world.close());

/** Opens a run that asks, and then lets the operator's policy revoke something. */
async function asking(
  calls: object[],
  revoked: JsonObject,
  options: Partial<WorkerOptions> = {},
): Promise<{ run: RunInTest; requestId: string }> {
  world = await openWorld({ policy, ...options });
  const run = await world.start([...calls.map((call) => ({ calls: [call] })), { text: '{{lastResult}}' }] as never);
  const [request] = await run.open();
  await world.stopWorker();
  await world.startWorker({ policy: { ...policy, revoked } });
  return { run, requestId: request!.requestId };
}
const signedBy = (keyId: string, run: RunInTest): SigningOptions => ({
  keyId,
  privateKey: keys[keyId === 'desk' ? 'desk' : 'ann'].privateKey,
  workflowId: run.workflowId,
  namespace: 'default',
});
const codeOf = (sent: Promise<unknown>): Promise<unknown> =>
  sent.then(
    () => 'accepted',
    (error: unknown) => (error as { code?: string }).code,
  );

test.each<[string, JsonObject, string]>([
  ['a key', { keys: ['ann-laptop'] }, `key 'ann-laptop'`],
  ['a person', { people: ['Ann'] }, `'ann'`],
  ['a person by another id', { people: ['u.17'] }, `'ann'`],
])('a call that was approved by %s which was revoked since does not start', async (_, revoked, what) => {
  const { run, requestId } = await asking([pay], revoked);
  const decision = signDecision({ requestId, approved: true, reason: 'Pay twice' }, signedBy('ann-laptop', run));
  // The run has not heard of it yet: the second gate has.
  expect(await world.client.decide(decision, { workflowId: run.workflowId })).toMatchObject({ outcome: 'approved' });
  const { output, outcomes } = await run.result();
  expect(output).toContain(`the approval of this call counts no more: ${what} is revoked by the operator's policy`);
  expect(output).not.toContain('Pay twice');
  expect(outcomes).toMatchObject([{ outcome: 'approved', ran: 'no' }]);
  expect(world.ran()).toEqual([]);
});

test('what a revoked person approved without a key does not start either', async () => {
  const { run, requestId } = await asking([echo], { people: ['ann'] });
  await world.client.decide({ requestId, approved: true, reviewerId: 'U.17' }, { workflowId: run.workflowId });
  expect((await run.result()).output).toContain(`'U.17' is revoked`);
});

test.each<[string, string, object, JsonObject]>([
  ['by a key that was revoked since', 'ann-laptop', { by: 'ann' }, { keys: ['ann-laptop'] }],
  ['from an operator whose key was revoked since', 'desk', { from: 'ann', reason: 'Ann is ill' }, { keys: ['desk'] }],
])('what a delegate approved who got the seat %s does not start', async (_, keyId, more, revoked) => {
  world = await openWorld({ policy });
  const run = await world.start([{ calls: [echo] }, { text: '{{lastResult}}' }]);
  const { workflowId } = run;
  const [request] = await run.open();
  const { requestId } = request!;
  const message = signMessage('delegate', { requestId, to: 'eve', ...more }, signedBy(keyId, run));
  await world.client.delegate(message, { workflowId });
  await world.stopWorker();
  await world.startWorker({ policy: { ...policy, revoked } });
  await world.client.decide({ requestId, approved: true, reviewerId: 'eve' }, { workflowId });
  expect((await run.result()).output).toContain('counts no more');
  expect(world.ran()).toEqual([]);
});

test('from the next turn of the model on, no vote and no message of them counts', async () => {
  const { run, requestId } = await asking([echo, pay], { keys: ['ann-laptop', 'desk'], people: ['ann'] });
  const { workflowId } = run;
  await world.client.decide({ requestId, approved: true, reviewerId: 'bob' }, { workflowId });
  const [request] = await run.open();
  const next = { requestId: request!.requestId, approved: true };
  const signed = signDecision(next, signedBy('ann-laptop', run));
  expect(await codeOf(world.client.decide(signed, { workflowId }))).toBe('unverified_reviewer');
  const change = { mode: 'plan' as const };
  const loosened = signMessage('setPolicy', change, signedBy('desk', run));
  expect(await codeOf(world.client.setPolicy(workflowId, loosened))).toBe('unverified_reviewer');
  const details = await world.client.approvals.get(next.requestId, { workflowId });
  expect(details.cannotBeApproved).toContain(`'ann' cannot give one`);
  await run.handle.terminate();
});

test('they stay revoked when the run continues as new on a worker that does not revoke them yet', async () => {
  const continueAsNewAfter = { historyEvents: 30, updates: 100 };
  const { run, requestId } = await asking([echo, pay], { people: ['ann'] }, { continueAsNewAfter });
  const { workflowId } = run;
  await world.client.decide({ requestId, approved: true, reviewerId: 'bob' }, { workflowId });
  const next = await eventually('the next request', async () =>
    (await run.open()).find(({ toolName }) => toolName === 'pay'),
  );
  await world.stopWorker();
  await world.startWorker({ policy });
  const { executions } = await run.status();
  await eventually('the run to continue as new', async () => {
    await run.handle.signal('decide', { requestId: '0'.repeat(32), approved: true });
    return (await run.status()).executions > executions;
  });
  const signed = signDecision({ requestId: next.requestId, approved: true }, signedBy('ann-laptop', run));
  expect(await codeOf(world.client.decide(signed, { workflowId }))).toBe('unverified_reviewer');
  await run.handle.terminate();
});

test('a standing approval of them ends, and a standing denial stays', async () => {
  const say = (text: string): object => ({ tool: 'echo', args: { text } });
  world = await openWorld({ policy });
  const said = ['yes', 'no', 'between', 'yes', 'no'];
  const run = await world.start([...said.map((text) => ({ calls: [say(text)] })), { text: 'end' }] as never);
  const { workflowId } = run;
  const answer = async (text: string, decision: object): Promise<void> => {
    const [request] = await run.open();
    expect(request!.arguments).toEqual({ text });
    await world.client.decide({ requestId: request!.requestId, ...decision } as Decision, { workflowId });
  };
  const always = { kind: 'call' as const };
  await answer('yes', { approved: true, reviewerId: 'ann', always });
  await answer('no', { approved: false, reviewerId: 'ann', always });
  await run.open();
  await world.stopWorker();
  await world.startWorker({ policy: { ...policy, revoked: { people: ['ann'] } } });
  await answer('between', { approved: true, reviewerId: 'bob' });
  await answer('yes', { approved: true, reviewerId: 'bob' });
  const { outcomes } = await run.result();
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['approved', 'denied', 'approved', 'approved', 'denied']);
  const { entries } = await world.client.journal(workflowId);
  expect(entries.filter(({ kind }) => kind === 'revoked')).toMatchObject([
    { grantId: 'grant-1', reason: `made by whom the operator's policy has revoked` },
  ]);
});

test('a policy of a run revokes nothing', async () => {
  world = await openWorld({ policy });
  const start = world.start([{ text: 'end' }], { policy: { rules: [], revoked: { people: ['ann'] } } });
  await expect(start.then((run) => run.result())).rejects.toThrow();
});
