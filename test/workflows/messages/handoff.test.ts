import { describe, expect, test } from 'vitest';
import { countEvents } from '../../../bench/event-counts.ts';
import type { JournalEntry, Message } from '../../../src/contract.ts';
import { journalIn } from '../../../src/client/history/written-by-gate.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { last, pay, rule, team, yes, type TeamPolicies } from '../../support/team.ts';
import type { RunInTest, Turns } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** From the next turn on, a handoff changes the agent in charge and its policy, and nothing else. */

const toBilling = { tool: 'transfer_to_billing', args: { reason: 'It is about money' } };
const policies: TeamPolicies = {
  tester: rule('pay', 'deny', { reason: 'Front desk' }),
  billing: rule('pay', 'ask', { reason: 'Billing asks' }),
};

const world = forAllTests(() => openWorld({ agentsIn: (folder) => team(folder, policies) }));

const results = async (run: RunInTest): Promise<string[]> => {
  const messages = await run.handle.query<Message[]>('transcript');
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
};

test('the other agent is in charge from the next turn on; calls next to the handoff belong to the first agent', async () => {
  const run = await world.start([{ calls: [toBilling, pay('beside')] }, { calls: [pay('after')] }, last] as Turns);
  const [request] = await run.open();
  expect(request).toMatchObject({ agentName: 'billing', reason: 'Billing asks', lineage: [] });
  expect(await run.status()).toMatchObject({ agent: 'billing', turn: 2 });
  await run.handle.signal('decide', yes(request!.requestId));
  const { output, outcomes } = await run.result();
  expect(output).toBe('paid 1 to after');
  expect(outcomes).toMatchObject([
    { toolName: 'transfer_to_billing', outcome: 'allowed', ran: 'yes' },
    { toolName: 'pay', outcome: 'denied_by_policy' },
    { toolName: 'pay', outcome: 'approved', ran: 'yes' },
  ]);
  expect(await results(run)).toEqual([`Agent 'billing' takes over.`, 'Denied: Front desk', 'paid 1 to after']);
});

test('each ruling in the journal names its agent', async () => {
  const run = await world.start([
    { calls: [toBilling] },
    { calls: [{ tool: 'look', args: { what: 'x' } }] },
    last,
  ] as Turns);
  await run.result();
  const { events } = await run.handle.fetchHistory();
  const entries = (events ?? []).flatMap(journalIn);
  const named = entries
    .filter(({ kind }: JournalEntry) => kind === 'ruling')
    .map(({ toolName, agent }) => [toolName, agent]);
  expect(named).toEqual([
    ['transfer_to_billing', 'tester'],
    ['look', 'billing'],
  ]);
});

test('the run returns when the other agent hands back', async () => {
  const back = { calls: [{ tool: 'transfer_to_tester' }] };
  const run = await world.start([{ calls: [toBilling] }, back, { calls: [pay('back')] }, last] as Turns);
  expect((await run.result()).output).toBe('Denied: Front desk');
  expect(await run.status()).toMatchObject({ agent: 'tester' });
});

test('the other agent has its own tools', async () => {
  const run = await world.start([{ calls: [toBilling] }, { calls: [{ tool: 'echo' }] }, last] as Turns);
  expect((await run.result()).output).toBe(`Error: tool 'echo' not found`);
});

test('the start policy of the run binds the other agent too', async () => {
  const run = await world.start([{ calls: [toBilling] }, { calls: [pay('input')] }, last] as Turns, {
    policy: rule('pay', 'deny', { reason: 'Of the input' }),
  });
  expect((await run.result()).output).toBe('Denied: Of the input');
});

test("so does a change of the run's policy before the handoff", async () => {
  const ask = rule('transfer_to_*', 'ask');
  const run = await world.start([{ calls: [toBilling] }, { calls: [pay('changed')] }, last] as Turns, { policy: ask });
  const [request] = await run.open();
  const policy = {
    version: 1,
    rules: [...(ask['rules'] as object[]), { pattern: 'pay', action: 'deny', reason: 'Changed' }],
  };
  await run.handle.executeUpdate('setPolicy', { args: [{ policy }] });
  await run.handle.signal('decide', yes(request!.requestId));
  expect((await run.result()).output).toBe('Denied: Changed');
});

describe('a handoff passes the gate', () => {
  test('denied: the first agent continues', async () => {
    const run = await world.start([{ calls: [toBilling] }, { calls: [pay('still')] }, last] as Turns, {
      policy: rule('transfer_to_*', 'deny', { reason: 'Stay' }),
    });
    await run.result();
    expect(await results(run)).toEqual(['Denied: Stay', 'Denied: Front desk']);
  });

  test('asked: the other agent takes over once somebody approves', async () => {
    const run = await world.start([{ calls: [toBilling] }, { text: 'mine' }] as Turns, {
      policy: rule('transfer_to_*', 'ask'),
    });
    const [request] = await run.open();
    expect(request).toMatchObject({ agentName: 'tester', arguments: { reason: 'It is about money' } });
    expect(await run.status()).toMatchObject({ agent: 'tester' });
    await run.handle.signal('decide', yes(request!.requestId));
    await run.result();
    expect(await run.status()).toMatchObject({ agent: 'billing' });
  });

  test('several in one turn: the first allowed one wins', async () => {
    const calls = [toBilling, { tool: 'transfer_to_lax' }, { tool: 'transfer_to_mirror' }];
    const run = await world.start([{ calls }, last] as Turns, { policy: rule('transfer_to_billing', 'deny') });
    const { outcomes } = await run.result();
    expect(await run.status()).toMatchObject({ agent: 'lax' });
    expect(await results(run)).toEqual([
      `Denied: Policy denies 'transfer_to_billing'`,
      `Agent 'lax' takes over.`,
      `Error: the run is being handed over to 'lax': a turn can hand over only once`,
    ]);
    expect(outcomes.map(({ ran }) => ran)).toEqual(['no', 'yes', 'no']);
  });
});

test('the second gate knows the agent in charge: the ceiling has rules for it', async () => {
  const only = (name: string) => ({ [name]: { rules: [{ pattern: 'pay', action: 'allow' }] } });
  const policy = {
    version: 1,
    rules: [{ pattern: 'pay', action: 'deny', reason: 'Billing only' }],
    agents: only('billing'),
  };
  const own = await openWorld({ agentsIn: (folder) => team(folder), policy });
  const allowed = rule('pay', 'allow');
  const run = await own.start([{ calls: [pay('one'), toBilling] }, { calls: [pay('two')] }, last] as Turns, {
    policy: allowed,
  });
  expect((await run.result()).output).toBe('paid 1 to two');
  expect(own.ran()).toEqual(['pay two 1']);
  await own.close();
});

test('it costs no event and no activity', async () => {
  const counts = async (calls: object[]) => {
    const run = await world.start([{ calls }, { text: 'done' }] as Turns);
    await run.result();
    return countEvents(await run.handle.fetchHistory());
  };
  expect(await counts([toBilling])).toEqual(await counts([{ tool: 'no_such_tool' }]));
});

test('the other agent is as it was when the run began, whatever was deployed since (I12)', async () => {
  const own = await openWorld({ agentsIn: (folder) => team(folder, policies) });
  const run = await own.start([{ calls: [toBilling] }, { calls: [pay('old')] }, last] as Turns, {
    policy: rule('transfer_to_*', 'ask'),
  });
  const [request] = await run.open();
  await own.stopWorker();
  await own.startWorker({ agents: team(own.folder, { billing: rule('pay', 'allow') }) });
  await run.handle.signal('decide', yes(request!.requestId));
  expect((await run.open())[0]).toMatchObject({ toolName: 'pay', reason: 'Billing asks' });
  await own.close();
});

test('it survives continue-as-new, also in the turn of the handoff (I11)', async () => {
  const own = await openWorld({
    agentsIn: (folder) => team(folder, policies),
    continueAsNewAfter: { historyEvents: 40 },
  });
  const noisy = async (run: RunInTest, executions: number) =>
    eventually(`execution ${executions}`, async () => {
      await run.handle.signal('noise');
      return (await run.status()).executions >= executions;
    });
  const ask = rule('look', 'ask');
  const beside = { tool: 'look', args: { what: 'beside' } };
  const run = await own.start([{ calls: [toBilling, beside] }, { calls: [pay('rolled')] }, last] as Turns, {
    policy: ask,
  });
  const [first] = await run.open();
  await noisy(run, 2);
  expect(await run.status()).toMatchObject({ agent: 'tester' });
  await run.handle.signal('decide', yes(first!.requestId));
  const second = await eventually('billing asks', async () => {
    const open = await run.open();
    return open.find(({ toolName }) => toolName === 'pay');
  });
  expect(second).toMatchObject({ agentName: 'billing' });
  await noisy(run, (await run.status()).executions + 1);
  expect(await run.status()).toMatchObject({ agent: 'billing' });
  await run.handle.signal('decide', yes(second.requestId));
  expect((await run.result()).output).toBe('paid 1 to rolled');
  await own.close();
});
