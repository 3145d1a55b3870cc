import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentTool } from '../../../src/agents/agent-tool.ts';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { eventually } from '../../support/eventually.ts';
import { testAgent } from '../../support/test-agent.ts';
import { claudeThinks } from '../../models/wire/anthropic.ts';
import { startWireServer, wireFormats, type WireServer, type WireTurn } from '../../models/wire/wire-server.ts';
import { openWorld, type RunInTest, type World } from '../../support/world.ts';

/**
 * Runs of models whose servers refuse every transcript that breaks the provider's rules: approved, denied, expired and
 * edited calls side by side, a continued run, a handoff, a nested run.
 */

const pay = (to: string, amount: number) => ({ name: 'pay', args: { to, amount } });
const thinking: WireTurn[] = [
  {
    reasoning: 'Two to pay, one to see.',
    text: 'Let me pay.',
    calls: [pay('ann', 1), pay('bob', 2), { name: 'look', args: { what: 'x' } }],
  },
  { reasoning: 'And two more.', text: ' \n', calls: [pay('cy', 3), pay('late', 4)] },
  { reasoning: 'All told.', text: 'Done.' },
];
const askClerk = (format: string): string => `ask_${format.replaceAll('-', '_')}`;
const plain = thinking.map(({ reasoning: _none, ...turn }) => turn);

const cases = wireFormats.flatMap((format) =>
  [true, false].flatMap((thinks) =>
    [true, false].map((streams) => ({ format, thinks, streams, agent: `${format}-${thinks}-${streams}` })),
  ),
);
const servers = new Map<string, WireServer>();
/** All of them wait for their requests side by side. */
const played = new Map<string, Promise<RunInTest>>();
let world: World;

beforeAll(async () => {
  for (const { agent, format, thinks } of cases) {
    servers.set(agent, await startWireServer(format, thinks ? thinking : plain));
  }
  const cut: WireTurn[] = [
    { text: 'I pay', calls: [pay('cut', 9)], finish: 'length' },
    { text: 'It is too l', finish: 'length' },
  ];
  servers.set('cut', await startWireServer('openai-chat', cut));
  servers.set('second', await startWireServer('mistral', plain.slice(2)));
  const handsOver = [{ reasoning: 'Not mine.', calls: [{ name: 'transfer_to_second', args: {} }], callId: 'look:0' }];
  servers.set('first', await startWireServer('deepseek', handsOver));
  for (const format of wireFormats) {
    const asks = [{ name: askClerk(format), args: { input: 'Pay ann' } }];
    const caller = [{ reasoning: 'The clerk pays.', text: 'One moment.', calls: asks }, { text: 'Ann is paid.' }];
    const clerk = [{ reasoning: 'To pay.', calls: [pay(`${format}-nested`, 1)] }, { text: ' \n' }];
    servers.set(`${format}-caller`, await startWireServer(format, caller));
    servers.set(`${format}-clerk`, await startWireServer(format, clerk));
  }
  const modelOf = (agent: string) => servers.get(agent)!.model;
  world = await openWorld({
    continueAsNewAfter: { historyEvents: 20 },
    agentsIn: (folder) => {
      const { tools } = testAgent(folder);
      const second = defineAgent({ name: 'second', instructions: '', model: modelOf('second'), tools });
      return [
        ...cases.map(({ agent, thinks, streams }) =>
          defineAgent({
            name: agent,
            instructions: 'Be brief.',
            model: modelOf(agent),
            tools,
            modelCall: {
              stream: streams ? 'on' : 'off',
              ...(thinks && { providerOptions: claudeThinks }),
            },
            policy: {
              version: 1,
              rules: [{ id: 'late', pattern: 'pay:late', action: 'ask', ask: { timeout: '2s' } }],
            },
          }),
        ),
        defineAgent({ name: 'cut', instructions: '', model: modelOf('cut'), tools }),
        defineAgent({ name: 'first', instructions: '', model: modelOf('first'), handoffs: [second] }),
        second,
        ...wireFormats.map((format) => {
          const modelCall = { providerOptions: claudeThinks };
          const clerk = {
            name: `${format}-clerk`,
            instructions: '',
            model: modelOf(`${format}-clerk`),
            modelCall,
            tools,
          };
          const asks = agentTool(defineAgent(clerk), { name: askClerk(format) });
          const model = modelOf(`${format}-caller`);
          return defineAgent({ name: `${format}-caller`, instructions: '', model, modelCall, tools: [asks] });
        }),
      ];
    },
  });
  for (const { agent } of cases) {
    const playing = play(agent);
    // The test that waits for it says what went wrong.
    playing.catch(() => undefined);
    played.set(agent, playing);
  }
});
afterAll(async () => {
  await world.close();
  await Promise.all([...servers.values()].map((server) => server.close()));
});

async function start(agent: string): Promise<RunInTest> {
  return world.run((await world.client.start(agent, 'Go')).workflowId);
}

async function decide(run: RunInTest, to: string, decision: object): Promise<void> {
  const request = await eventually(`the request to pay ${to}`, async () =>
    (await run.open()).find((each) => each.arguments['to'] === to),
  );
  await run.handle.signal('decide', { requestId: request.requestId, ...decision });
}

async function play(agent: string): Promise<RunInTest> {
  const run = await start(agent);
  await decide(run, 'ann', { approved: true });
  await decide(run, 'bob', { approved: false, reason: 'Not Bob' });
  await decide(run, 'cy', { approved: true, modifiedArguments: { to: 'cy', amount: 30 } });
  await run.handle.result();
  return run;
}

test.each(cases)('$format, thinking: $thinks, streaming: $streams', async ({ agent, thinks }) => {
  const run = await played.get(agent)!.catch((error: Error) => error);
  const { refusals, requests } = servers.get(agent)!;
  expect(refusals).toEqual([]);
  if (run instanceof Error) throw run;
  const { status, output, outcomes } = await run.result();
  expect({ status, output }).toEqual({ status: 'completed', output: 'Done.' });
  expect(Object.fromEntries(outcomes.map(({ callId, outcome }) => [callId, outcome]))).toEqual({
    '1.1': 'approved',
    '1.2': 'denied',
    '1.3': 'allowed',
    '2.1': 'approved',
    '2.2': 'expired',
  });
  expect(requests).toHaveLength(3);
  expect((await run.status()).executions).toBeGreaterThan(1);
  if (thinks) expect(JSON.stringify(await run.handle.query('transcript'))).not.toContain('Two to pay');
});

test('a run is handed over to another provider', async () => {
  const run = await start('first');
  expect(await run.result()).toMatchObject({ status: 'completed', output: 'Done.' });
  expect([...servers.get('first')!.refusals, ...servers.get('second')!.refusals]).toEqual([]);
});

test.concurrent.each(wireFormats)('%s: a call of a nested run is approved', async (format) => {
  const run = await start(`${format}-caller`);
  const nested = world.run(`${run.workflowId}/1.1`);
  const [request] = await eventually('the clerk asks', () => nested.open().catch(() => undefined));
  await nested.handle.signal('decide', { requestId: request!.requestId, approved: true });
  const result = await run.result().catch((error: unknown) => error);
  const [caller, clerk] = ['caller', 'clerk'].map((name) => servers.get(`${format}-${name}`)!);
  expect([...caller!.refusals, ...clerk!.refusals]).toEqual([]);
  expect(result).toMatchObject({ status: 'completed', output: 'Ann is paid.' });
  expect(world.ran()).toContain(`pay ${format}-nested 1`);
});

describe('an answer that was cut off', () => {
  test('runs none of its calls, asks nobody, and says so', async () => {
    const run = await start('cut');
    const result = await run.result();
    expect(result).toMatchObject({ status: 'completed', output: 'It is too l', finish: 'length' });
    expect(world.ran().filter((line) => line.includes('cut'))).toEqual([]);
    expect(JSON.stringify(servers.get('cut')!.requests[1])).toContain(
      'Error: not run, because the answer is not whole: it reached its maximum length',
    );
    const events = [];
    for await (const event of world.client.events(run.workflowId)) events.push(event);
    const finishes = events.flatMap((event) => {
      if (event.type === 'RunCompleteEvent') return [event.finish];
      return event.type === 'RunItemEvent' && event.item.type === 'message' ? [event.item.finish] : [];
    });
    expect(finishes).toEqual([undefined, 'length', 'length', 'length']);
    expect(events.filter(({ type }) => type === 'ApprovalRequestEvent')).toEqual([]);
  });
});
