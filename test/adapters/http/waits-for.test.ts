/** For whom a row says that a request waits: for those whose approval the run would count. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InboxPage, ApprovalView } from '../../../packages/gateway/src/http/inbox/api.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { identityOf, makeToken } from '../../support/identity.ts';
import { once, pay } from '../../support/team.ts';

const ann = makeToken('ann', ['reviewer']);
const zed = makeToken('zed', ['reviewer']);
const policy = {
  rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['group:finance'] } }],
  directory: { people: { ann: { groups: ['finance'] }, bob: { groups: ['finance'] } } },
};

const runPolicy = (legal: string[]) => ({
  rules: [{ pattern: 'pay', action: 'ask' as const, ask: { reviewers: ['group:legal'] } }],
  directory: { people: Object.fromEntries(legal.map((name) => [name, { groups: ['legal'] }])) },
});

let world: GatewayWorld;
beforeAll(async () => {
  const tokens = [ann.entry, { ...zed.entry, groups: ['finance'] }];
  world = await openGatewayWorld({ policy }, { identity: identityOf({ tokens }) });
});
afterAll(() => world.close());

test('a group of a credential is not one of the policy, and the refusal says where groups are', async () => {
  const run = await world.start(once(pay('shop')));
  const [request] = await run.open();
  const query = `?workflowId=${run.workflowId}`;
  const seen = async (who: typeof ann): Promise<unknown> => {
    const page = await world.call('GET', `/approvals${query}`, undefined, who.bearer);
    const view = await world.call('GET', `/approvals/${request!.requestId}${query}`, undefined, who.bearer);
    return [
      ((await page.json()) as InboxPage).approvals.map(({ waitsFor }) => waitsFor),
      ((await view.json()) as ApprovalView).waitsFor,
    ];
  };
  expect(await seen(ann)).toEqual([['you'], 'you']);
  expect(await seen(zed)).toEqual([['others'], 'others']);
  const path = `/approve/${request!.requestId}${query}`;
  const refused = await world.call('POST', path, { approved: true }, zed.bearer);
  expect(await refused.json()).toMatchObject({
    status: 403,
    code: 'not_entitled',
    detail: `'zed' is not among the reviewers of this request: the directory of the policy says who is in a group`,
  });
  await run.handle.terminate();
});

test('a change of the policy’s directory alone changes for whom a row waits', async () => {
  const run = await world.start(once(pay('shop')), { policy: runPolicy(['bob']) });
  await run.open();
  const waits = async (): Promise<unknown> => {
    const page = await world.call('GET', `/approvals?workflowId=${run.workflowId}`, undefined, zed.bearer);
    return ((await page.json()) as InboxPage).approvals.map(({ waitsFor }) => waitsFor);
  };
  expect(await waits()).toEqual(['others']);
  await world.client.setPolicy(run.workflowId, { policy: runPolicy(['bob', 'zed']) });
  expect(await waits()).toEqual(['you']);
  await run.handle.terminate();
});

test('whoever started a run cannot approve its calls, so none waits for them', async () => {
  const run = await world.start(once(pay('shop')), { caller: { userId: 'ann' } });
  const [request] = await run.open();
  const path = `/approvals/${request!.requestId}?workflowId=${run.workflowId}`;
  const view = await world.call('GET', path, undefined, ann.bearer);
  expect(((await view.json()) as ApprovalView).waitsFor).toBe('others');
  await run.handle.terminate();
});
