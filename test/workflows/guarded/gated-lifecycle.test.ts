import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { WorkflowHandle } from '@temporalio/client';
import type { ApprovalRequest, Decision } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import type { GatedWorld } from '../../support/gated-world.ts';
import { openGatedWorld } from '../../support/gated-world.ts';

/** In a user's own workflow, reviewers may do more than approve and deny: all that they may do in an agent's run. */

let world: GatedWorld;
beforeAll(async () => {
  world = await openGatedWorld({
    policy: {
      version: 1,
      rules: [
        { pattern: '*', action: 'ask' },
        { pattern: 'pay:mallory', action: 'deny', reason: 'Never' },
      ],
    },
  });
});
beforeEach(() => {
  world.ran();
});
afterAll(() => world.close());

const ask = async (...steps: [string, ...unknown[]][]) => {
  const handle = await world.start(
    'inTurn',
    steps.map(([name, ...args]) => ({ name, args })),
  );
  const [request] = await world.open(handle);
  return { handle, request: request!, ends: () => handle.result() as Promise<unknown[]> };
};
const decide = ({ requestId }: ApprovalRequest, decision: Partial<Decision>) =>
  world.client.decide({ requestId, approved: true, ...decision });
const openNow = (handle: WorkflowHandle) => handle.query<ApprovalRequest[]>('approvals');

test.each<[string, [string, ...unknown[]], Decision['modifiedArguments'], unknown]>([
  ['by their names', ['pay', 'ann', 100], { to: 'ann', amount: 7 }, 'paid 7 to ann'],
  ['so that a default stands', ['pay', 'ann', 100], { to: 'ann' }, 'paid 5 to ann'],
  ['of one object', ['order', { item: 'tea' }], { item: 'milk' }, 'ordered milk'],
  ['by position', ['look', 'a', 'b'], { $1: 'c', $2: 'd' }, ['c', 'd']],
])('edited arguments, %s: the activity gets them in its own order', async (_name, call, modifiedArguments, result) => {
  const { request, ends } = await ask(call);
  expect(await decide(request, { modifiedArguments })).toMatchObject({ accepted: true, outcome: 'approved' });
  expect(await ends()).toEqual([{ result }]);
  expect(world.ran()).toHaveLength(1);
});

test('edited arguments, reported to a model: what was changed, then the result', async () => {
  const handle = await world.start('calls', [{ name: 'pay', args: ['ann', 100], how: 'model' }]);
  const [request] = await world.open(handle);
  await decide(request!, { modifiedArguments: { to: 'ann', amount: 7 } });
  const notice = 'A reviewer changed the arguments before the tool ran: amount: 100 became 7.';
  expect(await handle.result()).toEqual([`${notice}\npaid 7 to ann`]);
});

test('words beside an approval, reported to a model: before the result', async () => {
  const handle = await world.start('calls', [{ name: 'pay', args: ['ann', 100], how: 'model' }]);
  const [request] = await world.open(handle);
  await decide(request!, { reason: 'Only this once' });
  const notice = 'A reviewer approved this call and wrote: "Only this once".';
  expect(await handle.result()).toEqual([`${notice}\npaid 100 to ann`]);
});

test('words beside an approval change no result that no model gets', async () => {
  const { request, ends } = await ask(['pay', 'ann', 100]);
  await decide(request, { reason: 'Only this once' });
  expect(await ends()).toEqual([{ result: 'paid 100 to ann' }]);
});

test.each<[string, Decision['modifiedArguments'], string, string]>([
  [
    'an argument that the activity does not have',
    { to: 'ann', sum: 1 },
    'arguments_invalid',
    `'pay' has no argument 'sum'`,
  ],
  ['what the policy denies', { to: 'mallory', amount: 1 }, 'denied_by_policy', 'Never'],
])('edited to %s: refused, and the request stays open', async (_name, modifiedArguments, code, message) => {
  const { handle, request } = await ask(['pay', 'ann', 1]);
  await expect(decide(request, { modifiedArguments })).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message),
  });
  expect(await openNow(handle)).toEqual([request]);
  await decide(request, { approved: false });
});

test('a response: thrown with the text, because its type is not that of the activity', async () => {
  const { request, ends } = await ask(['pay', 'ann', 1]);
  await decide(request, { approved: false, response: { paid: 'by cheque' } });
  const { requestId } = request;
  expect(await ends()).toMatchObject([
    {
      type: 'responded',
      message: '{"paid":"by cheque"}',
      details: { toolName: 'pay', outcome: 'responded', requestId, response: { paid: 'by cheque' } },
    },
  ]);
  expect(world.ran()).toEqual([]);
});

test('always: later calls of the activity are allowed, and a revoked grant asks again', async () => {
  const steps = [1, 2, 3].map((amount): [string, string, number] => ['pay', 'ann', amount]);
  const { handle, request, ends } = await ask(...steps, ['order', { item: 'tea' }], ['pay', 'ann', 4]);
  expect(await decide(request, { always: true })).toMatchObject({ grantId: expect.any(String) });
  const [order] = await eventually('the order is asked about', async () => {
    const open = await world.open(handle);
    return open[0]?.toolName === 'order' && open;
  });
  expect(world.ran()).toEqual(['pay ann 1', 'pay ann 2', 'pay ann 3']);
  await handle.executeUpdate('revoke', { args: [{ grants: 'all' }] });
  await decide(order!, {});
  const [again] = await eventually('the payment is asked about', async () => {
    const open = await world.open(handle);
    return open[0]?.toolName === 'pay' && open;
  });
  expect(again).toMatchObject({ arguments: { to: 'ann', amount: 4 } });
  await decide(again!, { approved: false });
  expect(await ends()).toMatchObject([{}, {}, {}, { result: 'ordered tea' }, { type: 'denied' }]);
});

test('the same call again after a reviewer denied it: denied without asking', async () => {
  const { request, ends } = await ask(['pay', 'ann', 1], ['pay', 'ann', 1]);
  await decide(request, { approved: false, reason: 'no' });
  expect(await ends()).toMatchObject([
    { type: 'denied', message: 'Denied: no' },
    { type: 'denied', message: 'Denied: no' },
  ]);
});

test('a tightened policy settles open requests', async () => {
  const { handle, ends } = await ask(['pay', 'ann', 1]);
  const policy = { version: 1, rules: [{ pattern: 'pay', action: 'deny', reason: 'Not today' }] };
  await handle.executeUpdate('setPolicy', { args: [{ policy }] });
  expect(await ends()).toMatchObject([{ type: 'superseded', message: 'Denied: Not today' }]);
  expect(world.ran()).toEqual([]);
});

test('close: waiting and later calls are cancelled, and the workflow continues', async () => {
  const { handle, ends } = await ask(['pay', 'ann', 1], ['pay', 'ann', 2]);
  const receipt = await world.client.closeRun(handle.workflowId, { by: 'rita', reason: 'enough' });
  expect(receipt).toMatchObject({ accepted: true, message: `run '${handle.workflowId}' is closing` });
  const cancelled = { type: 'cancelled', message: 'Cancelled: enough' };
  expect(await ends()).toMatchObject([cancelled, cancelled]);
});
