/** All that a person may answer, over HTTP: each person delegates for themselves alone. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { httpProblem } from '../../support/http-problem.ts';
import { makeOwnInbox } from '../../support/own-inbox.ts';
import { openPeopleWorld, type PeopleWorld } from './people-world.ts';

let world: PeopleWorld;
beforeAll(async () => {
  const agentPolicy = { version: 1, rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['bob', 'ann'] } }] };
  world = await openPeopleWorld(
    { ann: ['reviewer'], bob: ['reviewer'], olga: ['operator', 'viewer', 'starter'] },
    { namespace: await makeOwnInbox(), agentPolicy },
  );
});
afterAll(() => world?.close());

const json = async (response: Response): Promise<unknown> => {
  expect(response.status).toBe(200);
  return response.json();
};

test('a reviewer delegates what is open and what comes, and ends it', async () => {
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'x', amount: 1 } }] }, { text: 'done' }]);
  const [request] = await run.open();
  const { requestId } = request!;
  await eventually('it is listed', async () => (await world.client.approvals.list()).approvals.length === 1);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const all = await json(await world.as('bob')('POST', '/delegations', { to: 'eve', until, reason: 'on leave' }));
  expect(all).toMatchObject({
    receipts: [{ requestId, accepted: true, workflowId: run.workflowId, toolName: 'pay' }],
    silentRuns: 0,
    standing: { by: 'bob', to: 'eve', untilAt: until, reason: 'on leave' },
  });
  expect(await httpProblem(await world.as('bob')('POST', '/delegations', { to: 'zoe', until }))).toMatchObject({
    status: 409,
    code: 'already_started',
  });
  expect(await json(await world.as('bob')('GET', '/delegations'))).toMatchObject({ standing: [{ to: 'eve' }] });
  // Ann sees and ends nothing of his.
  expect(await json(await world.as('ann')('GET', '/delegations'))).toEqual({ standing: [] });
  expect(await httpProblem(await world.as('ann')('DELETE', '/delegations', {}))).toMatchObject({ status: 404 });
  expect(await json(await world.as('bob')('DELETE', '/delegations', { reason: 'back' }))).toMatchObject({
    accepted: true,
  });
  expect(await json(await world.as('bob')('GET', '/delegations'))).toEqual({ standing: [] });
});

test.each<[string, object, number]>([
  ['for another person', { to: 'eve', by: 'ann' }, 422],
  ['of the seat of another person', { to: 'eve', from: 'ann' }, 422],
  ['to nobody', {}, 422],
  ['to a group', { to: 'group:x' }, 422],
  ['to themselves', { to: 'BOB' }, 422],
  ['until no date', { to: 'eve', until: 'soon' }, 422],
  ['until a day that is over', { to: 'eve', until: '2020-01-31' }, 422],
])('a delegation %s is refused', async (_, body, status) => {
  expect(await httpProblem(await world.as('bob')('POST', '/delegations', body))).toMatchObject({ status });
});
