import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { describe, expect, test } from 'vitest';
import type {
  RunGrants,
  RunEvents,
  RunJournal,
  RunList,
  ShownRun,
} from '../../../packages/gateway/src/http/inbox/api.ts';
import type { RunView } from '../../../src/client.ts';
import { verifyAudit } from '../../../src/client.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';
import { httpProblem } from '../../support/http-problem.ts';
import { openPeopleWorld } from './people-world.ts';
import { once, pay, rule } from '../../support/team.ts';
import { eventually } from '../../support/eventually.ts';

const world = forAllTests(() =>
  openPeopleWorld(
    {
      ann: ['viewer', 'starter'],
      bob: ['viewer', 'starter', 'reviewer'],
      ola: ['operator'],
      otto: ['starter', 'operator'],
    },
    { agentPolicy: rule('pay', 'ask') },
  ),
);

const input = (to: string): string => JSON.stringify(once(pay(to)));
const json = async <Body>(response: Response): Promise<Body> => (await response.json()) as Body;

async function started(by = 'ann', body: object = {}, headers = {}): Promise<string> {
  const response = await world.as(by)('POST', '/runs', { agent: 'tester', input: input('shop'), ...body }, headers);
  expect(response.status).toBe(201);
  return (await json<{ workflowId: string }>(response)).workflowId;
}

describe('POST /runs', () => {
  test('the run works for its sender, who cannot say that it is somebody else', async () => {
    const id = await started('ann');
    const [request] = await world.run(id).open();
    expect(request).toMatchObject({ callerUserId: 'ann' });
    const forged = { agent: 'tester', input: input('shop'), caller: { userId: 'bob' } };
    expect(await httpProblem(await world.as('ann')('POST', '/runs', forged))).toMatchObject({
      status: 403,
      code: 'forbidden',
    });
  });

  test('a key starts once, also for two senders with the same key', async () => {
    const key = { 'idempotency-key': 'order-17' };
    const first = await started('ann', {}, key);
    expect(await started('ann', {}, key)).toBe(first);
    expect(await started('bob', {}, key)).not.toBe(first);
    const other = await world.as('ann')('POST', '/runs', { agent: 'tester', input: 'other' }, key);
    expect(await httpProblem(other)).toMatchObject({ status: 409, code: 'already_started' });
  });

  test('a run that cannot start says why, without the secrets of its input', async () => {
    const failed = async (body: object): Promise<RunView['failure']> => {
      const id = await started('ann', body);
      const view = await eventually('the end of the run', async () => {
        const shown = await json<RunView>(await world.as('ann')('GET', `/runs/${id}`));
        return shown.closedAt !== undefined && shown;
      });
      const { events } = await json<RunEvents>(await world.as('ann')('GET', `/runs/${id}/events?follow=false`));
      expect(events.at(-1)).toMatchObject({ type: 'RunCompleteEvent', failure: view.failure });
      return view.failure;
    };
    expect(await failed({ agent: 'nobody' })).toEqual({
      code: 'agent_unknown',
      message: "No agent 'nobody' on this worker; it has: 'tester'",
    });
    expect(await failed({ input: 'x'.repeat(600_000) })).toMatchObject({
      code: 'too_large',
      message: expect.stringContaining('at most 512000'),
    });
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const hidden = await failed({ agent: token });
    expect(hidden).toMatchObject({ code: 'agent_unknown', message: expect.stringContaining('No agent') });
    expect(hidden!.message).not.toContain(token);
  });

  test('a policy with mistakes starts nothing, and the refusal has their places', async () => {
    const policy = {
      version: 1,
      rules: [
        { pattern: 'pay', action: 'maybe' },
        { pattern: 'pay', action: 'ask', wenn: '' },
      ],
    };
    const key = { 'idempotency-key': 'mistaken' };
    const refused = await world.as('ann')('POST', '/runs', { agent: 'tester', input: input('shop'), policy }, key);
    expect(await httpProblem(refused)).toMatchObject({
      status: 422,
      code: 'policy_invalid',
      detail: expect.stringMatching(/body\.policy\.rules\[0\]\.action: .*'maybe'; body\.policy\.rules\[1\]/),
    });
    // A run under the key would make this a conflict, since the input differs.
    expect(await started('ann', { input: input('bank') }, key)).toMatch(/^key-/);
  });

  test.each<[string, object, string]>([
    ['a mode', { mode: 'bypassPermissions' }, 'body.mode'],
    ['a mode in the policy', { policy: { mode: 'approve_all' } }, 'body.policy.mode'],
    ['an allow rule', { policy: rule('pay', 'allow') }, 'body.policy.rules[0]'],
    ['a shorter veto', { policy: { approval: { timeout: '1ms', on_timeout: 'allow' } } }, 'body.policy.approval'],
    ['fewer arguments', { policy: { approval: { include_arguments: false } } }, 'body.policy.approval'],
  ])('the role starter lifts nothing of the agent: %s', async (_, body, place) => {
    const refused = await world.as('ann')('POST', '/runs', { agent: 'tester', input: input('shop'), ...body });
    const remedy = 'leave it out, write a rule that denies, or have a person with the role operator start the run.';
    expect(await httpProblem(refused)).toMatchObject({
      status: 403,
      code: 'forbidden',
      detail: `${place}: with the role starter, a run's policy may only deny, because it could loosen what its agent says: ${remedy}`,
    });
  });

  test('the role starter may deny, and whoever is an operator too may loosen what the agent says', async () => {
    const output = async (by: string, body: object) => (await world.run(await started(by, body)).result()).output;
    expect(await output('ann', { policy: rule('pay', 'deny') })).toContain("Policy denies 'pay'");
    expect(await output('otto', { mode: 'bypassPermissions' })).toContain('paid');
  });

  test('messages of users become its transcript', async () => {
    const messages = [{ role: 'user', content: JSON.stringify([{ text: 'Hello.' }]) }];
    const id = await started('ann', { input: messages });
    expect((await world.run(id).result()).output).toBe('Hello.');
  });

  test('without authentication, a run has no caller, who could not approve its calls', async () => {
    const local = await openGatewayWorld({ agentPolicy: rule('pay', 'ask') });
    try {
      const response = await local.call('POST', '/runs', { agent: 'tester', input: input('shop') });
      const { workflowId } = await json<{ workflowId: string }>(response);
      const [request] = await local.run(workflowId).open();
      expect(request!.callerUserId).toBeNull();
      const path = `/approve/${request!.requestId}?workflowId=${workflowId}`;
      expect((await local.call('POST', path, { approved: true })).status).toBe(200);
      const { settled } = await local.client.approvals.get(request!.requestId);
      expect(settled?.reviewerId).toBe(userInfo().username);
    } finally {
      await local.close();
    }
  });
});

test('a run from its start to its audit', async () => {
  const id = await started('ann');
  const [request] = await world.run(id).open();
  const listed = await eventually('the run in the list', async () => {
    const { runs } = await json<RunList>(await world.as('ann')('GET', '/runs?agent=tester&status=waiting&limit=500'));
    return runs.find(({ workflowId }) => workflowId === id);
  });
  expect(listed).toMatchObject({ agent: 'tester', status: 'waiting', open: 1 });
  const always = { kind: 'tool' };
  await world.as('bob')('POST', `/approve/${request!.requestId}?workflowId=${id}`, { approved: true, always });
  await world.run(id).result();
  const view = await json<RunView>(await world.as('ann')('GET', `/runs/${id}`));
  expect(view).toMatchObject({ status: 'completed', result: { output: 'paid 1 to shop' } });
  const { entries } = await json<RunJournal>(await world.as('ann')('GET', `/runs/${id}/journal`));
  expect(entries.map(({ kind }) => kind)).toEqual(['opened', 'settled', 'grant', 'ran']);
  const { grants } = await json<RunGrants>(await world.as('ann')('GET', `/runs/${id}/grants`));
  expect(grants).toMatchObject([{ grantId: 'grant-1', tool: 'pay', by: [{ reviewerId: 'bob' }] }]);
  const audit = await world.as('ola')('GET', `/runs/${id}/audit`);
  expect([audit.status, audit.headers.get('content-type')]).toEqual([200, 'application/jsonl']);
  const lines = (await audit.text()).trimEnd().split('\n');
  const verdict = await verifyAudit(lines.map((text) => ({ text })));
  expect(verdict).toMatchObject({ ok: true });
  const redacted = await (await world.as('ola')('GET', `/runs/${id}/audit?redact=true`)).text();
  expect(redacted).not.toContain('"reviewerId":"bob"');
  expect(await httpProblem(await world.as('ann')('GET', `/runs/${id}/audit`))).toMatchObject({ status: 403 });
});

test('a run is found by the words of its task, as its own policies show them, and by its caller', async () => {
  const key = randomUUID();
  const said = JSON.stringify([{ text: `Order ${key} of TICKET-4711 for ann.smith@example.com` }]);
  const redact = { patterns: [{ name: 'TICKET', pattern: 'TICKET-[0-9]+' }] };
  const shown = await started('otto', { input: said, policy: { version: 1, redact } });
  const hidden = await started('otto', {
    input: said,
    policy: { version: 1, approval: { include_arguments: false } },
  });
  const other = await started('ann', { input: said });
  const listed = async (query: string) => {
    const { runs } = await json<RunList>(await world.as('otto')('GET', `/runs?${query}&limit=500`));
    return runs.filter(({ workflowId }) => [shown, hidden, other].includes(workflowId));
  };
  await eventually('all are listed', async () => (await listed('agent=tester')).length === 3);
  await Promise.all([shown, hidden, other].map((id) => world.run(id).result()));
  const found = await eventually('both with their tasks', async () => {
    const runs = await listed(`text=${key}%20ORDER`);
    return runs.length === 2 && runs;
  });
  expect(found.map(({ workflowId }) => workflowId).toSorted()).toEqual([shown, other].toSorted());
  const row = found.find(({ workflowId }) => workflowId === shown)!;
  expect(row.task).toContain('[TICKET');
  expect(JSON.stringify(found)).not.toContain('ann.smith');
  expect(row.task).not.toContain('TICKET-4711');
  expect(found.find(({ workflowId }) => workflowId === other)!.task).toContain('TICKET-4711');
  const mine = await listed('mine=true');
  expect(mine.map(({ workflowId }) => workflowId).toSorted()).toEqual([shown, hidden].toSorted());
  expect(mine.find(({ workflowId }) => workflowId === hidden)).not.toHaveProperty('task');
  const view = await json<ShownRun>(await world.as('otto')('GET', `/runs/${shown}`));
  expect(view).toMatchObject({ agent: 'tester', callerUserId: 'otto', task: row.task });
});

test('what a policy redacts is not in the output of a run', async () => {
  const id = await started('ann', { input: JSON.stringify([{ text: 'Write to ann.smith@example.com.' }]) });
  expect((await world.run(id).result()).output).toContain('ann.smith@example.com');
  const response = await world.as('ann')('GET', `/runs/${id}`);
  const text = await response.text();
  expect(text).toContain('Write to [EMAIL …com · f37d].');
  expect(text).not.toContain('ann.smith');
});

describe('control', () => {
  test('policy, grants, close and cancel, in the name of the sender', async () => {
    const id = await started('ann');
    const [request] = await world.run(id).open();
    const denied = await world.as('ola')('PUT', `/runs/${id}/policy`, {
      policy: rule('pay', 'deny'),
      reason: 'Closed',
    });
    expect(await json(denied)).toMatchObject({ accepted: true, settled: [{ requestId: request!.requestId }] });
    await world.run(id).result();
    const { entries } = await json<RunJournal>(await world.as('ola')('GET', `/runs/${id}/journal`));
    expect(entries.find(({ kind }) => kind === 'policy')).toMatchObject({ reviewerId: 'ola' });

    const closing = await started('ann');
    await world.run(closing).open();
    const unknown = await world.as('bob')('DELETE', `/runs/${closing}/grants/grant-9`);
    expect(await httpProblem(unknown)).toMatchObject({ status: 404, code: 'grant_unknown' });
    const bad = await world.as('ola')('PUT', `/runs/${closing}/policy`, { policy: { version: 1, rules: 5 } });
    expect(await httpProblem(bad)).toMatchObject({ status: 422, code: 'policy_invalid' });
    const looser = await world.as('ola')('PUT', `/runs/${closing}/policy`, {});
    expect(await httpProblem(looser)).toMatchObject({ status: 422, code: 'policy_invalid' });
    const message = await world.as('ann')('POST', `/runs/${closing}/messages`, { content: 'More' });
    expect(await httpProblem(message)).toMatchObject({ status: 422, code: 'invalid_message' });
    expect((await world.as('ann')('POST', `/runs/${closing}/close`, { reason: 'Done' })).status).toBe(200);
    expect((await world.run(closing).result()).status).toBe('closed');
    const closed = [
      await world.as('ann')('POST', `/runs/${closing}/close`),
      await world.as('ola')('POST', `/runs/${closing}/cancel`, { reason: 'Late' }),
      await world.as('ola')('PUT', `/runs/${closing}/policy`, { mode: 'plan' }),
    ];
    for (const response of closed)
      expect(await httpProblem(response)).toMatchObject({ status: 410, code: 'run_closed' });

    const cancelled = await started('ann');
    await world.run(cancelled).open();
    expect((await world.as('ann')('POST', `/runs/${cancelled}/cancel`, { reason: 'Mistake' })).status).toBe(200);
    expect((await world.run(cancelled).result()).status).toBe('cancelled');
    const { events } = await world.run(cancelled).handle.fetchHistory();
    const asked = events!.find((event) => event.workflowExecutionCancelRequestedEventAttributes != null);
    expect(asked!.workflowExecutionCancelRequestedEventAttributes!.cause).toBe('by ann: Mistake');
  });

  test('a grant is revoked', async () => {
    const turns = [{ calls: [pay('shop')] }, { calls: [pay('other')] }, { text: 'Done.' }];
    const id = await started('otto', {
      input: JSON.stringify(turns),
      policy: rule('pay', 'ask', { ask: { always: 'call' } }),
    });
    const [request] = await world.run(id).open();
    const path = `/approve/${request!.requestId}?workflowId=${id}`;
    await world.as('bob')('POST', path, { approved: true, always: { kind: 'call' } });
    await eventually('the second request', async () => {
      const open = await world.run(id).open();
      return open[0]!.requestId !== request!.requestId;
    });
    const revoked = await world.as('bob')('DELETE', `/runs/${id}/grants/grant-1?reason=Enough`);
    expect(await json(revoked)).toMatchObject({ accepted: true });
    expect(await json(await world.as('ann')('GET', `/runs/${id}/grants`))).toEqual({ grants: [] });
  });
});
