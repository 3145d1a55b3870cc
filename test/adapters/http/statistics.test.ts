import { randomUUID } from 'node:crypto';
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DecidedList, PresentPolicy, Statistics } from '../../../packages/gateway/src/index.ts';
import { agentTool, defineAgent } from '../../../src/index.ts';
import { createClient } from '../../../src/client/client.ts';
import { costlyModel, costlyPrices } from '../../support/costly-model.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { makeNamespace } from '../../support/make-namespace.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { callOf, once, pay } from '../../support/team.ts';
import { testAgent } from '../../support/test-agent.ts';

const namespace = `statistics-${randomUUID()}`;
const folder = mkdtempSync(join(tmpdir(), 'countersign-statistics-'));
const file = join(folder, 'ceiling.yaml');
let world: GatewayWorld;
let looks = 0;

beforeAll(async () => {
  await makeNamespace(namespace);
  const client = await createClient({ address: sharedAddress(), namespace });
  await client.setUp();
  await client.close();
  writeFileSync(
    file,
    [
      'rules:',
      "  - { pattern: '*', action: deny }",
      '  - { id: money, pattern: pay, action: ask }',
      '  - { id: helpers, pattern: helper, action: allow }',
      `prices: ${JSON.stringify(costlyPrices)}`,
      '',
    ].join('\n'),
  );
  world = await openGatewayWorld({
    namespace,
    policy: file,
    agentsIn: (place) => {
      const model = costlyModel('costly-1');
      const tester = testAgent(place);
      const helper = { ...tester, name: 'helper', description: 'Helps.', model };
      const boss = defineAgent({ name: 'boss', instructions: 'Be brief.', model, tools: [agentTool(helper)] });
      return [tester, boss];
    },
  });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

async function get<Answer>(path: string): Promise<Answer> {
  const response = await world.call('GET', path);
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

test('the figures of the runs, and the policy in force with the places of its rules', async () => {
  const sinceMs = Date.now();
  const run = await world.start(once(pay('bob'), pay('ann'), { tool: 'look', args: { what: 'x' } }));
  const open = await run.open(2);
  const decide = (requestId: string, approved: boolean, durationMs: number) =>
    world.client.decide({ requestId, approved, reviewerId: 'rita', viewed: { channel: 'inbox', durationMs } });
  await decide(open[0]!.requestId, true, 900);
  await decide(open[1]!.requestId, false, 9_000);
  await run.result();
  // Visibility lags, and answers are kept: each instant is asked about once.
  const { figures, policy } = await eventually('visibility lists the run as ended', async () => {
    const since = new Date(sinceMs - 60_000 * ++looks).toISOString();
    const figures = await get<Statistics>(`/statistics?since=${since}`);
    return (
      figures.rules.some(({ asked }) => asked === 2) && {
        figures,
        policy: await get<PresentPolicy>(`/policy?since=${since}`),
      }
    );
  });
  expect(figures.covered).toMatchObject({ runs: 1, unread: 0, more: false });
  expect(figures.rules).toMatchObject([
    { rule: 'money', layer: 'ceiling', asked: 2, approved: 1, denied: 1, approvalRate: { count: 1, of: 2 } },
    { rule: 'ceiling#1', layer: 'ceiling', asked: 0, deniedByPolicy: 1 },
  ]);
  expect(figures.reviewers).toMatchObject([{ reviewerId: 'rita', answers: 2, glanced: { count: 1, of: 2 } }]);
  expect(policy.covered).toEqual(figures.covered);
  expect(policy.present).toMatchObject({
    runs: 1,
    rules: [
      { id: 'ceiling#1', place: 'ceiling.yaml:2', rule: { action: 'deny' }, statistics: { deniedByPolicy: 1 } },
      {
        id: 'money',
        place: 'ceiling.yaml:3',
        rule: { action: 'ask' },
        statistics: { asked: 2, policy: policy.present!.digest },
      },
      { id: 'helpers' },
    ],
  });
});

test('a workflow that only claims to have asked hides no policy and adds no figure', async () => {
  const { workflow } = world.client.session.client;
  const attributes = { ApprovalIds: ['0'.repeat(32)] };
  const options = { workflowId: `stranger-${randomUUID()}`, taskQueue: 'nobody', searchAttributes: attributes };
  const stranger = await workflow.start('anything', options);
  const found = await eventually('visibility lists the stranger', async () => {
    const since = new Date(Date.now() - 60_000 * ++looks).toISOString();
    const policy = await get<PresentPolicy>(`/policy?since=${since}`);
    return policy.covered.runs === 2 && policy;
  });
  await stranger.terminate();
  expect(found).toMatchObject({ present: { runs: 1 }, withoutPolicy: 0 });
});

test('what agents used, once: nested runs count for the agent that was started', async () => {
  const run = await world.start(once(callOf('helper', { text: 'done' })), { agent: 'boss' });
  await run.result();
  const session = await world.start([{ text: 'hello' }], { agent: 'boss', session: true });
  const agents = await eventually('visibility lists the runs', async () => {
    const since = new Date(Date.now() - 60_000 * ++looks).toISOString();
    const { agents } = await get<Statistics>(`/statistics?since=${since}`);
    return agents.some(({ agent, runs, others }) => agent === 'boss' && runs === 1 && others === 1) && agents;
  });
  expect(agents).toEqual([
    {
      agent: 'boss',
      runs: 1,
      others: 1,
      inputTokens: 3_000,
      outputTokens: 1_500,
      costs: [{ currency: 'EUR', amount: expect.closeTo(0.03) }],
      unpriced: 0,
    },
    {
      agent: 'tester',
      runs: 1,
      others: 0,
      inputTokens: 0,
      outputTokens: 0,
      costs: [{ currency: 'EUR', amount: 0 }],
      unpriced: 1,
    },
  ]);
  await session.handle.signal('close');
  await session.result();
});

test.each(['since=yesterday', 'since=2030-01-01', 'until=2030-01-01T00:00:00Z'])('%s is refused', async (query) => {
  for (const path of ['/statistics', '/policy']) {
    const { status } = await world.call('GET', `${path}?${query}`);
    expect([400, 422]).toContain(status);
  }
});

test('what was decided, by whom and after which time, as a list and as a table', async () => {
  const run = await world.start(once(pay('eve')));
  const [request] = await run.open();
  await world.client.decide({ requestId: request!.requestId, approved: false, reason: 'no', reviewerId: 'rita' });
  await run.result();
  const since = await eventually('visibility lists the run as ended', async () => {
    const since = new Date(Date.now() - 60_000 * ++looks).toISOString();
    const { requests } = await get<DecidedList>(`/decided?since=${since}`);
    return requests.some(({ requestId }) => requestId === request!.requestId) && since;
  });
  const { requests, matching, tools } = await get<DecidedList>(`/decided?since=${since}&outcome=denied&tool=pay`);
  expect(requests[0]).toMatchObject({
    requestId: request!.requestId,
    workflowId: run.workflowId,
    outcome: 'denied',
    reviewers: ['rita'],
    reason: 'no',
    mine: false,
    ran: 'no',
  });
  expect([matching, tools]).toEqual([requests.length, ['pay']]);
  expect((await get<DecidedList>(`/decided?since=${since}&by=me`)).matching).toBe(0);
  const table = await world.call('GET', `/decided?since=${since}&format=csv`);
  expect(table.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(await table.text()).toContain(`,pay,tester,denied,rita,no,false,`);
});
