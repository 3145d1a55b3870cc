import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Matches } from '../../../packages/gateway/src/http/inbox/api.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { makeOwnInbox } from '../../support/own-inbox.ts';
import { httpProblem } from '../../support/http-problem.ts';
import { testAgent } from '../../support/test-agent.ts';
import { once } from '../../support/team.ts';

const agent = `past-${randomUUID()}`;
const policy = {
  version: 1,
  rules: [
    { pattern: 'echo', action: 'ask', when: '"ask" in args', ask: { always: 'tool' } },
    { pattern: 'echo', action: 'allow', when: '!("ask" in args)' },
    { pattern: 'pay', action: 'ask', ask: { always: false } },
  ],
};
const echo = (args: JsonObject) => ({ tool: 'echo', args });

let world: GatewayWorld;
let past: string;
let open: { workflowId: string; requestId: string };
beforeAll(async () => {
  // The route looks at the newest runs only, and other tests start hundreds meanwhile.
  const namespace = await makeOwnInbox();
  world = await openGatewayWorld({ namespace, agentsIn: (folder) => [{ ...testAgent(folder, policy), name: agent }] });
  const before = await world.start(
    once(
      echo({ to: 'ann', note: 'hello' }),
      echo({ to: 'bob', note: 'card 4111 1111 1111 1111' }),
      echo({ to: 'carl' }),
    ),
    { agent },
  );
  past = before.workflowId;
  await before.result();
  const asking = await world.start(
    [{ calls: [echo({ to: 'dora' })] }, ...once(echo({ to: 'ann', note: 'x', ask: true }))],
    {
      agent,
    },
  );
  const [request] = await asking.open();
  open = { workflowId: asking.workflowId, requestId: request!.requestId };
  await eventually('the past run in the list', async () => {
    for await (const run of world.client.runs({ limit: 100 })) if (run.workflowId === past) return true;
    return false;
  });
});
afterAll(() => world.close());

/** All that there is: on a busy machine, an answer may leave out a run that could not be read in time. */
async function matches(scope: object): Promise<Matches> {
  const path = `/approvals/${open.requestId}/matches?workflowId=${open.workflowId}`;
  return eventually('an answer about both runs', async () => {
    const response = await world.call('POST', path, { scope });
    expect(response.status).toBe(200);
    const answer = (await response.json()) as Matches;
    return answer.looked === 4 && answer;
  });
}

test('the past calls that a scope covers, of this run and of others of the agent, the newest first', async () => {
  const { matched } = await matches({ kind: 'arguments', match: { to: '*' } });
  expect(matched.map(({ workflowId, callId, outcome }) => [workflowId, callId, outcome])).toEqual([
    [open.workflowId, '1.1', 'allowed'],
    [past, expect.stringMatching(/^1\.[13]$/), 'allowed'],
    [past, expect.stringMatching(/^1\.[13]$/), 'allowed'],
  ]);
  expect((await matches({ kind: 'arguments', match: { to: 'ann' } })).matched).toMatchObject([{ callId: '1.1' }]);
  expect((await matches({ kind: 'tool' })).matched).toHaveLength(4);
  expect((await matches({ kind: 'call' })).matched).toEqual([]);
});

test('nobody finds a hidden value by trying globs', async () => {
  for (const note of ['card*', 'card 4*', '*1111', '*']) {
    const { matched } = await matches({ kind: 'arguments', match: { note } });
    expect(matched.map(({ callId }) => callId)).toEqual(note === '*' ? ['1.1'] : []);
  }
});

test('a request that admits no "always", and a scope that is none', async () => {
  const run = await world.start(once({ tool: 'pay', args: { to: 'bob', amount: 1 } }), { agent });
  const [request] = await run.open();
  const path = `/approvals/${request!.requestId}/matches?workflowId=${run.workflowId}`;
  const refused = await httpProblem(await world.call('POST', path, { scope: { kind: 'tool' } }));
  expect(refused).toMatchObject({ status: 403, code: 'not_permitted_by_ceiling' });
  const bad = await httpProblem(await world.call('POST', path, { scope: { kind: 'arguments' } }));
  expect(bad).toMatchObject({ status: 422, code: 'invalid_decision' });
});
