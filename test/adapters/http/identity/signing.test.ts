/** Decisions that the gateway signs, and runs whose policy does not know its key. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createReviewerKey } from '../../../../src/client/send/sign-message.ts';
import type { ApprovalDetails, Receipt } from '../../../../src/contract.ts';
import { eventually } from '../../../support/eventually.ts';
import { type GatewayWorld, openGatewayWorld } from '../../../support/gateway-world.ts';
import { identityOf, makeToken } from '../../../support/identity.ts';
import { once, pay } from '../../../support/team.ts';
import type { RunInTest } from '../../../support/world.ts';

const key = createReviewerKey();
const ann = makeToken('ann', ['reviewer']);
const zoe = makeToken('zoe', ['reviewer']);
const desk = makeToken('desk', ['operator']);
const identity = identityOf({ tokens: [ann.entry, zoe.entry, desk.entry] });
const rules = [
  { pattern: 'pay', action: 'ask', ask: { reviewers: ['ann', 'zoe'] } },
  { pattern: 'pay', action: 'ask', ask: { reviewers: ['ann', 'zoe'], verified: true }, when: 'args.amount > 50' },
];
const reviewerKeys = { gateway: { public_key: key.publicKey, signs_for: ['ann'], operator: true } };

let known: GatewayWorld;
let unknown: GatewayWorld;
beforeAll(async () => {
  const options = { identity, signer: { keyId: 'gateway', privateKey: key.privateKey } };
  known = await openGatewayWorld({ policy: { rules, reviewer_keys: reviewerKeys } }, options);
  unknown = await openGatewayWorld({ policy: { rules } }, options);
});
afterAll(async () => {
  await known.close();
  await unknown.close();
});

interface Asked {
  world: GatewayWorld;
  run: RunInTest;
  requestId: string;
}
async function ask(world: GatewayWorld, amount: number): Promise<Asked> {
  const run = await world.start(once(pay('bob', amount)));
  const [request] = await run.open();
  return { world, run, requestId: request!.requestId };
}
const decide = ({ world, run, requestId }: Asked, who = ann): Promise<Response> =>
  world.call('POST', `/approve/${requestId}?workflowId=${run.workflowId}`, { approved: true }, who.bearer);
const settled = async ({ run, requestId }: Asked): Promise<unknown> =>
  (await run.handle.query<ApprovalDetails, [object]>('approvals', { requestId })).settled;

test.each([1, 70])('signed for whom the key signs: amount %d', async (amount) => {
  const asked = await ask(known, amount);
  expect((await decide(asked)).status).toBe(200);
  expect(await settled(asked)).toMatchObject({ reviewerId: 'ann', identity: 'verified' });
});

test('for others, and to a run that does not know the key, it is a claim', async () => {
  for (const [world, who] of [
    [known, zoe],
    [unknown, ann],
  ] as const) {
    const asked = await ask(world, 1);
    expect((await decide(asked, who)).status).toBe(200);
    expect(await settled(asked)).toMatchObject({ identity: 'claimed' });
    const strict = await ask(world, 70);
    const refused = await decide(strict, who);
    expect(await refused.json()).toMatchObject({ status: 403, code: 'unverified_reviewer' });
    expect(await settled(strict)).toBeUndefined();
    await strict.run.handle.terminate();
  }
});

test('of several at once, each counts as far as its run believes it', async () => {
  const asked = [await ask(unknown, 1), await ask(unknown, 70), await ask(unknown, 2)];
  const requests = await Promise.all(
    asked.map(async ({ run, requestId }) => {
      const { digest } = await run.handle.query<ApprovalDetails, [object]>('approvals', { requestId });
      return { requestId, digest, workflowId: run.workflowId };
    }),
  );
  const response = await unknown.call('POST', '/approvals/decide', { requests, approved: true }, ann.bearer);
  const { receipts } = (await response.json()) as { receipts: Receipt[] };
  expect(receipts.map(({ outcome, code }) => outcome ?? code)).toEqual(['approved', 'unverified_reviewer', 'approved']);
  await asked[1]!.run.handle.terminate();
});

test('an operator of the gateway is no holder of an operator’s key', async () => {
  const asked = await ask(known, 1);
  const body = { policy: { rules: [{ pattern: 'pay', action: 'allow' }] } };
  const response = await known.call('PUT', `/runs/${asked.run.workflowId}/policy`, body, desk.bearer);
  expect(response.status).toBe(403);
  expect(await settled(asked)).toBeUndefined();
  await asked.run.handle.terminate();
});

describe('the same idempotency key gives the first receipt', () => {
  const repeat = async (send: () => Promise<Response>): Promise<[unknown, unknown]> => {
    const answers: unknown[] = [];
    for (let time = 0; time < 2; time++) {
      const response = await send();
      expect(response.status).toBe(200);
      answers.push(await response.json());
    }
    return answers as [unknown, unknown];
  };
  const withKey = (who: typeof ann): Record<string, string> => ({ ...who.bearer, 'idempotency-key': 'press-1' });

  test.each([
    ['signed', () => known],
    ['sent as a claim', () => unknown],
  ])('a decision, and when the run is over: %s', async (_, world) => {
    const { run, requestId } = await ask(world(), 1);
    const path = `/approve/${requestId}?workflowId=${run.workflowId}`;
    const send = (): Promise<Response> => world().call('POST', path, { approved: true }, withKey(ann));
    const [first, again] = await repeat(send);
    expect(again).toEqual(first);
    await run.result();
    // A busy worker may answer too late: then the gateway says only that the run is closed.
    const late = await eventually('the run answers', async () => {
      const answer = (await (await send()).json()) as { code?: string };
      return answer.code === 'run_closed' ? undefined : answer;
    });
    expect(late).toMatchObject({ accepted: true, outcome: 'approved' });
  });

  test.each([
    ['signed', () => known],
    ['sent as a claim', () => unknown],
  ])('of many at once: %s', async (_, world) => {
    const { run, requestId } = await ask(world(), 1);
    const { digest } = await run.handle.query<ApprovalDetails, [object]>('approvals', { requestId });
    const body = { requests: [{ requestId, digest, workflowId: run.workflowId }], approved: true };
    const send = (): Promise<Response> => world().call('POST', '/approvals/decide', body, withKey(ann));
    const [first, again] = await repeat(send);
    expect(first).toMatchObject({ receipts: [{ accepted: true, outcome: 'approved' }] });
    expect(again).toMatchObject({ receipts: [{ accepted: true, outcome: 'approved' }] });
  });

  test.each([
    ['signed', () => known],
    ['sent as a claim', () => unknown],
  ])('more time, a seat and a policy: %s', async (_, world) => {
    const { run, requestId } = await ask(world(), 1);
    const path = `/approvals/${requestId}`;
    const until = new Date(Date.now() + 2 * 3_600_000).toISOString();
    for (const [method, to, body, who] of [
      ['POST', `${path}/extend?workflowId=${run.workflowId}`, { until }, ann],
      ['POST', `${path}/delegate?workflowId=${run.workflowId}`, { to: 'zed' }, ann],
      ...(world() === unknown
        ? [['PUT', `/runs/${run.workflowId}/policy`, { mode: 'confirm_all' }, desk] as const]
        : []),
    ] as const) {
      const key = { ...who.bearer, 'idempotency-key': to };
      const [first, again] = await repeat(() => world().call(method, to, body, key));
      expect(again).toEqual(first);
    }
    await run.handle.terminate();
  });
});
