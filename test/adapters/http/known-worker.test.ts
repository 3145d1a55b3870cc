/** A gateway that knows the worker beside it: its agents, and its policy before the first run. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgentList, PresentPolicy } from '../../../packages/gateway/src/index.ts';
import type { KnownWorker } from '../../../packages/gateway/src/http/gateway-context.ts';
import { declaredBy } from '../../../src/worker/activity-side.ts';
import { eventually } from '../../support/eventually.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';
import { httpProblem } from '../../support/http-problem.ts';
import { makeOwnInbox } from '../../support/own-inbox.ts';
import { testAgent } from '../../support/test-agent.ts';

let known: KnownWorker | undefined;
const policyText = 'rules:\n  - { id: money, pattern: pay, action: ask }\n';
const world = forAllTests(async () =>
  openGatewayWorld({ namespace: await makeOwnInbox(), policy: policyText }, { worker: () => known }),
);
const get = async <Answer>(path: string): Promise<Answer> => (await world.call('GET', path)).json() as Promise<Answer>;

test('a worker declares its agents, also those that others call, and its policy with the lines of its file', () => {
  const file = join(world.folder, 'policy.yaml');
  writeFileSync(file, policyText);
  expect(declaredBy({ agents: [testAgent(world.folder)], policy: file })).toMatchObject({
    agents: ['tester'],
    policy: { rules: [{ id: 'money', action: 'ask' }] },
    ruleLines: { file: 'policy.yaml', lines: [2] },
  });
  expect(declaredBy({ agents: [] })).toEqual({ agents: [] });
});

test('before the first run the agents and the policy are those of the worker, and others are refused', async () => {
  known = undefined;
  expect(await get<AgentList>('/agents')).toEqual({ agents: [], complete: false });
  expect((await get<PresentPolicy>('/policy')).present).toBeUndefined();

  const declared = declaredBy({ agents: [testAgent(world.folder)], policy: policyText });
  known = declared;
  expect(await get<AgentList>('/agents')).toEqual({ agents: ['tester'], complete: true });
  const { present, others } = await get<PresentPolicy>('/policy');
  expect(present).toMatchObject({ runs: 0, rules: [{ id: 'money', rule: { action: 'ask' } }] });
  expect([present!.firstAt, others]).toEqual([undefined, []]);
  expect(await httpProblem(await world.call('POST', '/runs', { agent: 'testr', input: 'x' }))).toMatchObject({
    status: 404,
    code: 'agent_unknown',
    detail: "There is no agent 'testr'; the worker has: 'tester'. Did you mean 'tester'?",
  });

  const run = await world.client.start('tester', '[{"text":"x"}]');
  await run.result();
  const recorded = await eventually('the run is listed', async () => {
    // The same question is answered again for some seconds.
    const since = new Date(Date.now() - 60 * 60_000).toISOString();
    const answer = await get<PresentPolicy>(`/policy?since=${since}`);
    return answer.present?.runs === 1 && answer;
  });
  expect(recorded.present).toMatchObject({ digest: present!.digest, firstAt: expect.any(String) });

  // A changed policy binds new runs before one has recorded it.
  known = declaredBy({ agents: [], policy: 'rules: []' });
  const changed = await get<PresentPolicy>('/policy');
  expect(changed.present!.digest).not.toBe(present!.digest);
  known = undefined;
  await eventually('the agent of the run', async () => (await get<AgentList>('/agents')).agents[0] === 'tester');
});
