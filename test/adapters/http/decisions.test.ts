import { describe, expect, test } from 'vitest';
import type { Receipts, ApprovalView, RequestPeople } from '../../../packages/gateway/src/http/inbox/api.ts';
import type { ApprovalRequest, Receipt } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { httpProblem } from '../../support/http-problem.ts';
import { inTime, secondsInTime } from '../../support/in-time.ts';
import { openPeopleWorld } from './people-world.ts';
import { once, pay } from '../../support/team.ts';
import type { RunInTest } from '../../support/world.ts';

const policy = {
  version: 1,
  rules: [
    { pattern: 'pay', action: 'deny', when: 'args.to == "mallory"' },
    { pattern: 'pay', action: 'ask', when: 'args.to == "boss"', ask: { reviewers: ['carl', 'bob'] } },
    { pattern: 'pay', action: 'ask', when: 'args.to == "signed"', ask: { verified: true } },
    ...secondsInTime(3).map((seconds) => {
      const when = `args.to == "soon-${seconds}"`;
      return { pattern: 'pay', action: 'ask', when, ask: { timeout: `${seconds}s` } };
    }),
    { pattern: 'pay', action: 'ask', when: 'args.to == "two"', ask: { quorum: 2 } },
    { pattern: 'pay', action: 'ask', when: 'args.to == "shop"' },
  ],
};

const logged: string[] = [];

const world = forAllTests(() =>
  openPeopleWorld(
    { ann: ['viewer', 'reviewer', 'starter'], bob: ['viewer', 'reviewer'], vera: ['viewer'], olga: ['operator'] },
    { agentPolicy: policy },
    { log: (line) => logged.push(line) },
  ),
);

async function waiting(to = 'shop', input = {}): Promise<{ run: RunInTest; request: ApprovalRequest }> {
  const run = await world.start(once(pay(to)), input);
  const [request] = await run.open();
  return { run, request: request! };
}
const json = async <Body>(response: Response): Promise<Body> => (await response.json()) as Body;

describe('POST /approve/{requestId}', () => {
  test('approves in the name of the sender, and says what the run says', async () => {
    const { run, request } = await waiting();
    const { requestId, digest } = request;
    const viewed = { channel: 'inbox', card: 'a'.repeat(64), durationMs: 4_000 };
    const response = await world.as('ann')('POST', `/approve/${requestId}`, { approved: true, digest, viewed });
    expect(response.status).toBe(200);
    expect(await json<Receipt>(response)).toMatchObject({ requestId, accepted: true, outcome: 'approved' });
    expect((await run.result()).output).toBe('paid 1 to shop');
    const { settled } = await world.client.approvals.get(requestId);
    expect(settled).toMatchObject({ reviewerId: 'ann', identity: 'claimed', viewed });
  });

  test('as the seed writes it: approved, always, reason', async () => {
    const { run, request } = await waiting();
    const body = { approved: false, always: false, reason: 'Not this month' };
    const response = await world.as('ann')('POST', `/approve/${request.requestId}`, body);
    expect(await json<Receipt>(response)).toMatchObject({ accepted: true, outcome: 'denied' });
    expect((await run.result()).output).toContain('Denied: Not this month');
  });

  test('edits, answers in the place of the tool, and leaves a grant', async () => {
    const edited = await waiting();
    const path = (requestId: string) => `/approve/${requestId}?workflowId=`;
    const modifiedArguments = { to: 'shop', amount: 7 };
    await world.as('ann')('POST', path(edited.request.requestId) + edited.run.workflowId, {
      approved: true,
      modifiedArguments,
    });
    expect((await edited.run.result()).output).toContain('paid 7 to shop');

    const responded = await waiting();
    const answer = { approved: false, response: 'Paid by hand.' };
    await world.as('ann')('POST', path(responded.request.requestId) + responded.run.workflowId, answer);
    expect((await responded.run.result()).output).toContain('Paid by hand.');

    const granted = await waiting();
    const always = { kind: 'arguments', match: { to: 'shop' }, uses: 2 };
    const receipt = await world.as('ann')('POST', `/approve/${granted.request.requestId}`, { approved: true, always });
    expect(await json<Receipt>(receipt)).toMatchObject({ outcome: 'approved', grantId: 'grant-1' });
  });

  test('each refusal has its status', async () => {
    const open = await waiting();
    const settled = await waiting();
    const closed = await waiting();
    const { played: soon } = await inTime(3, (seconds) => waiting(`soon-${seconds}`));
    await world.as('ann')('POST', `/approve/${settled.request.requestId}`, { approved: false });
    const own = await json<{ workflowId: string }>(
      await world.as('ann')('POST', '/runs', { agent: 'tester', input: JSON.stringify(once(pay('shop'))) }),
    );
    const [mine] = await world.run(own.workflowId).open();
    const boss = await waiting('boss');
    const signed = await waiting('signed');
    await world.client.cancel(closed.run.workflowId);
    await closed.run.result();
    await soon.run.result();
    const approve = (requestId: string, body: object, by = 'ann') =>
      world.as(by)('POST', `/approve/${requestId}`, body);
    const yes = { approved: true };
    const id = open.request.requestId;
    const cases: [string, () => Promise<Response>, number, string][] = [
      ['no such request', () => approve('0'.repeat(32), yes), 404, 'unknown_request'],
      ['no id', () => approve('x', yes), 404, 'unknown_request'],
      ['settled', () => approve(settled.request.requestId, yes), 409, 'already_settled'],
      ['too late', () => approve(soon.request.requestId, yes), 410, 'expired'],
      ['of a closed run', () => approve(closed.request.requestId, yes), 410, 'run_closed'],
      ['changed', () => approve(id, { approved: true, digest: '0'.repeat(64) }), 409, 'digest_mismatch'],
      ['edited badly', () => approve(id, { approved: true, modifiedArguments: { to: 5 } }), 422, 'arguments_invalid'],
      [
        'edited to what is denied',
        () => approve(id, { approved: true, modifiedArguments: { to: 'mallory', amount: 1 } }),
        409,
        'denied_by_policy',
      ],
      ['not theirs', () => approve(boss.request.requestId, yes), 403, 'not_entitled'],
      ['their own run', () => approve(mine!.requestId, yes), 403, 'self_approval'],
      ['not signed', () => approve(signed.request.requestId, yes), 403, 'unverified_reviewer'],
      ['contradictory', () => approve(id, { approved: true, response: 1 }), 422, 'invalid_decision'],
      ['too long', () => approve(id, { approved: false, response: 'x'.repeat(30_000) }), 413, 'too_large'],
      ['not their role', () => approve(id, yes, 'vera'), 403, 'forbidden'],
      ['by nobody', () => world.call('POST', `/approve/${id}`, yes), 401, 'unauthenticated'],
      ['in no run', () => approve(`${id}?workflowId=nothing`, yes), 404, 'run_not_found'],
      ['in another run', () => approve(`${id}?workflowId=${boss.run.workflowId}`, yes), 404, 'unknown_request'],
    ];
    const found: unknown[] = [];
    // One after another: a run checks one edit at a time.
    for (const [what, send] of cases) {
      const { status, code } = await httpProblem(await send());
      found.push([what, status, code]);
    }
    expect(found).toEqual(cases.map(([what, , status, code]) => [what, status, code]));
    const { settled: still } = await world.client.approvals.get(id);
    expect(still).toBeUndefined();
  });
});

describe('idempotency', () => {
  test('the same key gives the first receipt; two people never meet', async () => {
    const { request, run } = await waiting('two');
    const path = `/approve/${request.requestId}?workflowId=${run.workflowId}`;
    const key = { 'idempotency-key': 'press-1' };
    const first = await json<Receipt>(await world.as('ann')('POST', path, { approved: true }, key));
    expect(first).toMatchObject({ accepted: true, votes: { have: 1, need: 2 } });
    expect(await json<Receipt>(await world.as('ann')('POST', path, { approved: true }, key))).toEqual(first);
    const differs = { approved: true, decisionId: 'press-2' };
    expect(await httpProblem(await world.as('ann')('POST', path, differs, key))).toMatchObject({ status: 422 });
    const bobs = await json<Receipt>(await world.as('bob')('POST', path, { approved: true }, key));
    expect(bobs).toMatchObject({ accepted: true, outcome: 'approved' });
  });
});

describe('POST /approvals/decide', () => {
  test('answers exactly these, with a receipt for each in order', async () => {
    const [one, two, three] = await Promise.all([waiting(), waiting(), waiting('boss')]);
    const requests = [one, two, three].map(({ run, request }) => ({
      requestId: request.requestId,
      digest: request.digest,
      workflowId: run.workflowId,
    }));
    requests.splice(1, 0, { requestId: '1'.repeat(32), digest: requests[0]!.digest, workflowId: 'nothing' });
    requests[0] = { ...requests[0]!, digest: 'f'.repeat(64) };
    const body = { requests, approved: true, viewed: { channel: 'inbox', durationMs: 9_000 } };
    const key = { 'idempotency-key': 'bulk-1' };
    const { receipts } = await json<Receipts>(await world.as('ann')('POST', '/approvals/decide', body, key));
    expect(receipts.map(({ requestId, accepted, code }) => [requestId, accepted, code])).toEqual([
      [requests[0].requestId, false, 'digest_mismatch'],
      [requests[1]!.requestId, false, 'run_not_found'],
      [requests[2]!.requestId, true, undefined],
      [requests[3]!.requestId, false, 'not_entitled'],
    ]);
    const { settled } = await world.client.approvals.get(two.request.requestId);
    expect(settled?.viewed).toEqual({ channel: 'inbox', durationMs: 9_000, batch: 4 });
    const again = await json<Receipts>(await world.as('ann')('POST', '/approvals/decide', body, key));
    expect(again.receipts[2]).toEqual(receipts[2]);
  });
});

test('a decision about a run that has ended leaves a line in the log, because no run records it', async () => {
  const { run, request } = await waiting();
  await world.client.cancel(run.workflowId);
  await run.result();
  const { requestId, digest } = request;
  await world.as('ann')('POST', `/approve/${requestId}`, { approved: true });
  const requests = [{ requestId, digest, workflowId: run.workflowId }];
  await world.as('bob')('POST', '/approvals/decide', { requests, approved: false });
  const late = `request ${requestId} after its run had ended: no run records it.`;
  expect(logged.filter((line) => line.includes(requestId))).toEqual([`ann approved ${late}`, `bob denied ${late}`]);
});

describe('looking', () => {
  test('a row and a view say for whom a request waits', async () => {
    const { run, request } = await waiting('boss');
    const list = await world.as('ann')('GET', `/approvals?workflowId=${run.workflowId}`);
    expect(await list.json()).toMatchObject({
      approvals: [
        {
          requestId: request.requestId,
          sentence: 'Pay (to, amount)',
          reviewers: ['carl', 'bob'],
          waitsFor: 'others',
        },
      ],
      more: 0,
      unread: [],
    });
    const view = await json<ApprovalView>(await world.as('ann')('GET', `/approvals/${request.requestId}`));
    expect(view.request).toMatchObject({ arguments: { to: 'boss', amount: 1 }, digest: request.digest });
    expect(view.card).toMatchObject({ version: 1, requestId: request.requestId });
    expect([view.cardDigest, view.waitsFor]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), 'others']);
  });

  test('more time, and a seat for somebody else', async () => {
    const { run, request } = await waiting('boss');
    const path = `/approvals/${request.requestId}`;
    const until = new Date(Date.now() + 3_600_000).toISOString();
    expect((await world.as('ann')('POST', `${path}/extend`, { until })).status).toBe(403);
    const { request: anyones } = await waiting();
    const extended = await world.as('ann')('POST', `/approvals/${anyones.requestId}/extend`, {
      until,
      reason: 'Lunch',
    });
    expect(await json<Receipt>(extended)).toMatchObject({ accepted: true });
    expect((await world.client.approvals.get(anyones.requestId)).deadline).toBe(until);
    const past = { until: '2020-01-31T12:00:00Z' };
    expect(
      await httpProblem(await world.as('ann')('POST', `/approvals/${anyones.requestId}/extend`, past)),
    ).toMatchObject({
      status: 422,
      code: 'invalid_message',
    });
    const far = { until: '2090-01-31T12:00:00Z' };
    expect(
      await httpProblem(await world.as('ann')('POST', `/approvals/${anyones.requestId}/extend`, far)),
    ).toMatchObject({
      status: 403,
      code: 'not_permitted_by_ceiling',
    });
    const handed = await world.as('bob')('POST', `${path}/delegate?workflowId=${run.workflowId}`, { to: 'ann' });
    expect(handed.status).toBe(200);
    const view = await json<ApprovalView>(await world.as('ann')('GET', path));
    expect(view.waitsFor).toBe('you');
    expect((await world.as('vera')('GET', `${path}/people`)).status).toBe(403);
    const known = await json<RequestPeople>(await world.as('ann')('GET', `${path}/people`));
    expect(known.isComplete).toBe(true);
    expect(known.people.map(({ id }) => id)).toEqual(expect.arrayContaining(['ann', 'bob']));
    expect(known.people.map(({ id }) => id)).not.toContain('vera');
    const moved = { from: 'ann', to: 'zed', reason: 'Ann is ill' };
    const inRun = `?workflowId=${run.workflowId}`;
    expect(await httpProblem(await world.as('ann')('POST', `${path}/move${inRun}`, moved))).toMatchObject({
      status: 403,
    });
    expect((await world.as('olga')('POST', `${path}/move${inRun}`, moved)).status).toBe(200);
    const after = await json<ApprovalView>(await world.as('ann')('GET', path));
    expect(after).toMatchObject({ waitsFor: 'others', request: { delegations: [{}, { from: 'ann', to: 'zed' }] } });
  });
});
