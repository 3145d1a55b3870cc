import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agentTool } from '../../../src/agents/agent-tool.ts';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import type { Agent } from '../../../src/agents/definitions.ts';
import { verifyEvidence } from '../../../src/audit/verify-evidence.ts';
import { evidenceOf } from '../../../src/client/audit/evidence-of.ts';
import type { RecordedEvent } from '../../../src/client.ts';
import type { JournalEntry, Message } from '../../../src/contract.ts';
import { completeByHand } from './complete-by-hand.ts';
import { eventually } from '../../support/eventually.ts';
import { readExecutions } from '../../support/read-histories.ts';
import { hasVerified, resetTo } from '../../support/reset-to.ts';
import { testAgent } from '../../support/test-agent.ts';
import { openWorld, type RunInTest, type Turns, type World } from '../../support/world.ts';

/** The result of a tool that only reads answers equal calls of the same run, if its author says so. */

const root = join(import.meta.dirname, '..', '..', '..');
// There, packages are found as in a project.
const page = mkdtempSync(join(root, 'node_modules', '.page-'));

/** The agent of the page about tools. */
async function agentOfPage(): Promise<Agent> {
  const [, code] = /```ts results\n([^]*?)```/.exec(readFileSync(join(root, 'docs', 'tools.md'), 'utf8'))!;
  const file = join(page, 'results.mjs');
  writeFileSync(file, code!.replace("'countersign'", JSON.stringify(join(root, 'src', 'index.ts'))));
  return ((await import(file)) as { desk: Agent }).desk;
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

/** `description`: of the tool that looks. */
function agentsIn(folder: string, description = 'Looks at something.'): Agent[] {
  const { tools, model, instructions } = testAgent(folder);
  const reads = (name: string, cache: 'run' | 'session', more: object = {}) =>
    defineTool({
      name,
      description: name === 'look' ? description : 'Reads.',
      input: z.object({ what: z.string() }),
      risk: 'read_only',
      cache,
      execute: ({ what }, { signal }) => {
        appendFileSync(join(folder, 'ran.log'), `${name} ${what}\n`);
        if (what === 'broken') throw new Error('it is broken');
        if (what === 'slow') return untilAborted(signal);
        return what === 'big' ? 1n : { saw: what };
      },
      ...more,
    });
  const own = [
    reads('look', 'session'),
    reads('glance', 'run'),
    reads('peep', 'run', { checkResult: () => 'it is secret' }),
    ...tools.filter(({ name }) => name !== 'look'),
  ];
  const of = (name: string, more: object = {}) => defineAgent({ name, instructions, model, tools: own, ...more });
  const clerk = of('clerk');
  const tester = of('tester', { tools: [...own, agentTool(clerk)], handoffs: () => [billing] });
  const billing: Agent = of('billing', { handoffs: () => [tester] });
  return [tester];
}

const look = (what = 'sea') => ({ tool: 'look', args: { what } });
const glance = { tool: 'glance', args: { what: 'sea' } };
const pay = { tool: 'pay', args: { to: 'ann', amount: 1 } };
const calls = (...each: object[]) => ({ calls: each }) as Turns[number];
const told = { text: '{{lastResult}}' };
const allow = { version: 1, rules: [{ pattern: '*', action: 'allow' }] };
const rule = (pattern: string, action: string) => ({ version: 1, rules: [...allow.rules, { pattern, action }] });

let world: World;
let before: number;
const ran = (): string[] => world.ran().slice(before);
const start = (turns: Turns, more: object = {}): Promise<RunInTest> => world.start(turns, { policy: allow, ...more });

beforeAll(async () => {
  const desk = await agentOfPage();
  world = await openWorld({
    continueAsNewAfter: { historyEvents: 40 },
    agentsIn: (folder) => [...agentsIn(folder), desk],
  });
});
afterAll(async () => {
  await world.close();
  rmSync(page, { recursive: true });
});
beforeEach(() => {
  before = world.ran().length;
});

async function entriesOf({ workflowId }: RunInTest): Promise<JournalEntry[]> {
  return (await world.client.journal(workflowId)).entries;
}

async function resultsOf({ workflowId }: RunInTest): Promise<object[]> {
  const found: RecordedEvent[] = [];
  for await (const event of world.client.events(workflowId, { follow: false })) found.push(event as RecordedEvent);
  const items = found.flatMap((event) => (event.type === 'RunItemEvent' ? [event.item] : []));
  return items.filter(({ type }) => type === 'tool_result');
}

/** The rulings of a run, made again from its history. */
async function ruledAgain({ workflowId }: RunInTest) {
  const { executions } = await world.client.historyChain(workflowId);
  const { entries, evidence } = evidenceOf(readExecutions(executions));
  return verifyEvidence(entries, evidence);
}

async function eventsOf({ workflowId }: RunInTest): Promise<number> {
  const { executions } = await world.client.historyChain(workflowId);
  return executions.reduce((sum, { events }) => sum + events.length, 0);
}

const say = (run: RunInTest) => run.handle.executeUpdate('message', { args: [{ content: 'and now?' }] });
const approve = async (run: RunInTest, more: object = {}): Promise<void> => {
  const [request] = await run.open();
  await run.handle.executeUpdate('decide', { args: [{ requestId: request!.requestId, approved: true, ...more }] });
};

test('the example of the page', async () => {
  const { output, outcomes } = await (await world.start([], { agent: 'desk', input: 'Who is Ann?' })).result();
  expect(output).toBe('I know: {"name":"Ann","city":"Bonn"}');
  expect(outcomes).toMatchObject([
    { outcome: 'allowed', ran: 'yes' },
    { outcome: 'cached', ran: 'no', resultOf: '1.1' },
  ]);
});

test('an equal call is answered by the earlier result, is journaled as that, and costs no event', async () => {
  const [run, refused] = await Promise.all([
    start([calls(look()), calls(look()), told]),
    start([calls(look()), calls({ tool: 'unknown' }), told]),
  ]);
  const { output, outcomes } = await run.result();
  await refused.result();
  expect(output).toBe('{"saw":"sea"}');
  expect(ran()).toEqual(['look sea', 'look sea']);
  const cached = { callId: '2.1', toolName: 'look', outcome: 'cached', ran: 'no', resultOf: '1.1' };
  expect(outcomes).toEqual([{ callId: '1.1', toolName: 'look', outcome: 'allowed', ran: 'yes' }, cached]);
  const { outcomes: projected } = await world.client.journal(run.workflowId);
  expect(projected).toEqual(outcomes);
  expect(await resultsOf(run)).toEqual([
    { type: 'tool_result', callId: '1.1', toolName: 'look', content: output, isError: false, ran: 'yes' },
    {
      type: 'tool_result',
      callId: '2.1',
      toolName: 'look',
      content: output,
      isError: false,
      ran: 'no',
      resultOf: '1.1',
    },
  ]);
  const { digest, ...entry } = (await entriesOf(run)).find(({ callId }) => callId === '2.1')!;
  expect(entry).toMatchObject({
    kind: 'ruling',
    action: 'allow',
    outcome: 'cached',
    resultOf: '1.1',
    toolName: 'look',
  });
  expect(digest).toBe((await entriesOf(run)).find(({ callId }) => callId === '1.1')!.digest);
  expect((await run.status()).counts.calls).toBe(2);
  expect(await ruledAgain(run)).toMatchObject({ agreed: [1, 3], differing: [], notReRuled: [] });
  expect(await eventsOf(run)).toBe(await eventsOf(refused));
});

test('equal calls of one turn all run, and tools that declare no cache always do', async () => {
  const bash = { tool: 'bash', args: { command: 'ls' } };
  const run = await start([calls(look(), look(), look('sky')), calls(look(), bash), calls(bash), told]);
  expect((await run.result()).outcomes.filter(({ outcome }) => outcome === 'cached')).toMatchObject([
    { callId: '2.1', resultOf: expect.stringMatching(/^1\.[12]$/) },
  ]);
  expect(ran().toSorted()).toEqual(['bash ls', 'bash ls', 'look sea', 'look sea', 'look sky']);
});

describe('policies rule as ever', () => {
  test('what was approved is not asked about again, and what is denied now is denied', async () => {
    const run = await start([calls(look()), calls(look()), told, calls(look()), told], {
      policy: rule('look', 'ask'),
      session: true,
    });
    await approve(run);
    await run.awaitsUser(3);
    const { outcomes, counts } = await run.status();
    expect(outcomes).toMatchObject([{ outcome: 'approved' }, { outcome: 'cached', resultOf: '1.1' }]);
    expect(counts).toMatchObject({ asks: 1, calls: 2 });
    await run.handle.executeUpdate('setPolicy', { args: [{ policy: rule('look', 'deny') }] });
    await say(run);
    await run.awaitsUser(5);
    expect((await run.status()).outcomes.at(-1)).toMatchObject({ callId: '4.1', outcome: 'denied_by_policy' });
    expect((await entriesOf(run)).find(({ outcome }) => outcome === 'cached')).toMatchObject({ action: 'ask' });
    expect(await ruledAgain(run)).toMatchObject({ differing: [], notReRuled: [] });
    expect(ran()).toEqual(['look sea']);
    await run.handle.signal('close', {});
  });

  test('a reviewer who denies a call in the same turn is obeyed', async () => {
    const run = await start([calls(look(), look()), calls(look()), told], { policy: rule('look', 'ask') });
    const [first, second] = await run.open(2);
    const decisions = [first, second].map((each, index) => ({ requestId: each!.requestId, approved: index === 0 }));
    await run.handle.executeUpdate('decide', { args: [decisions] });
    expect((await run.result()).outcomes.at(-1)).toMatchObject({ callId: '2.1', outcome: 'denied' });
  });

  test.each(['policy', 'ceiling'])('the %s may switch results off', async (side) => {
    const off = { ...allow, approval: { cached_results: false } };
    await world.stopWorker();
    await world.startWorker(side === 'ceiling' ? { policy: off } : {});
    const run = await start([calls(look()), calls(look()), told], side === 'policy' ? { policy: off } : {});
    await run.result();
    expect(ran()).toEqual(['look sea', 'look sea']);
    await world.stopWorker();
    await world.startWorker();
  });

  test('a grant that holds once is not used up', async () => {
    const turns = [calls(look()), calls(look('sky')), calls(look('sky')), calls(look('air')), told];
    const run = await start(turns, { policy: rule('look', 'ask') });
    await approve(run, { always: { kind: 'tool', uses: 2 } });
    const { outcomes } = await run.result();
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['approved', 'allowed', 'cached', 'allowed']);
    expect(await ruledAgain(run)).toMatchObject({ differing: [], notReRuled: [] });
  });
});

describe('what ends a result', () => {
  test.each<[name: string, turns: Turns, lines: string[], more?: object]>([
    ['a call that writes', [calls(look()), calls(pay), calls(look())], ['look sea', 'pay ann 1', 'look sea']],
    ['one that fails', [calls(look()), calls({ tool: 'fail' }), calls(look())], ['look sea', 'fail', 'look sea']],
    [
      'one beside it, which may have been first',
      [calls(look(), pay), calls(look())],
      ['look sea', 'look sea', 'pay ann 1'],
    ],
    [
      'a nested run, which may have written, and has results of its own',
      [calls(look()), calls({ tool: 'clerk', args: { input: JSON.stringify([calls(look()), told]) } }), calls(look())],
      ['look sea', 'look sea', 'look sea'],
    ],
    [
      'a handoff: the other agent may see something else',
      [calls(look()), calls({ tool: 'transfer_to_billing' }), calls(look()), calls(look())],
      ['look sea', 'look sea'],
    ],
    [
      'no call that is denied',
      [calls(look()), calls(pay), calls(look())],
      ['look sea'],
      { policy: rule('pay', 'deny') },
    ],
    ['no other call that only reads', [calls(look()), calls(look('sky')), calls(look())], ['look sea', 'look sky']],
  ])('%s', async (_name, turns, lines, more) => {
    const run = await start([...turns, told], more);
    expect((await run.result()).output).toBe('{"saw":"sea"}');
    expect(ran().toSorted()).toEqual(lines.toSorted());
  });

  test('a write whose end is unknown', async () => {
    const run = await start([calls(look()), calls({ tool: 'hold', args: { name: 'lost' } }), calls(look()), told]);
    await eventually('the tool runs', () => ran().includes('start lost'));
    await world.stopWorker();
    await world.startWorker();
    expect((await run.result()).outcomes.map(({ ran: how }) => how)).toEqual(['yes', 'unknown', 'yes']);
  });

  test.each(['broken', 'big', 'secret', 'answered'])(
    'a call without a result of its own never begins: %s',
    async (kind) => {
      const call = kind === 'secret' ? { tool: 'peep', args: { what: kind } } : look(kind);
      const isAnswered = kind === 'answered';
      const run = await start([calls(call), calls(call), told], isAnswered ? { policy: rule('look', 'ask') } : {});
      for (const callId of isAnswered ? ['1.1', '2.1'] : []) {
        await eventually(
          `the request of ${callId}`,
          async () => (await run.status()).counts.asks === Number(callId[0]),
        );
        const [request] = await run.open();
        await run.handle.executeUpdate('decide', {
          args: [{ requestId: request!.requestId, approved: false, response: 'by hand' }],
        });
      }
      const outcomes = (await run.result()).outcomes.map(({ outcome }) => outcome);
      expect(outcomes).toEqual(Array.from({ length: 2 }, () => (isAnswered ? 'responded' : 'allowed')));
    },
  );
});

test('an edited call answers calls that are equal to what ran', async () => {
  const run = await start([calls(look()), calls(look('sky')), calls(look()), told], { policy: rule('look', 'ask') });
  await approve(run, { modifiedArguments: { what: 'sky' } });
  await eventually('the second question', async () => (await run.status()).counts.asks === 2);
  expect((await run.open())[0]).toMatchObject({ arguments: { what: 'sea' } });
  const messages = await run.handle.query<Message[]>('transcript');
  const contents = messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
  expect(contents).toEqual([expect.stringMatching(/sky[^]*\n\{"saw":"sky"\}$/), '{"saw":"sky"}']);
  await approve(run);
  expect((await run.result()).output).toBe('{"saw":"sea"}');
  expect(await ruledAgain(run)).toMatchObject({ differing: [], notReRuled: [] });
  expect(ran()).toEqual(['look sky', 'look sea']);
});

describe('an operator', () => {
  test('who completes a tool by hand gives the result that answers equal calls', async () => {
    const run = await start([calls(look('slow')), calls(look('slow')), told]);
    await completeByHand(world, run, 'look', { saw: 'by hand' });
    const { output, outcomes } = await run.result();
    expect(output).toBe('{"saw":"by hand"}');
    expect(outcomes).toMatchObject([{ outcome: 'allowed' }, { outcome: 'cached', resultOf: '1.1' }]);
    expect(ran()).toEqual(['look slow']);
  });

  test('who resets a run leaves no result of what came after the point', async () => {
    const run = await start([calls(look()), told, calls(look()), told], { session: true });
    await run.awaitsUser(2);
    await resetTo(world, run.workflowId, hasVerified);
    await eventually('the tool has run again', () => ran().length === 2);
    await run.awaitsUser(2);
    await say(run);
    await run.awaitsUser(4);
    expect((await run.status()).outcomes).toMatchObject([
      { callId: '1.1', outcome: 'allowed' },
      { callId: '3.1', outcome: 'cached', resultOf: '1.1' },
    ]);
    expect(ran()).toEqual(['look sea', 'look sea']);
    await run.handle.signal('close', {});
  });
});

test('a session keeps it as long as its author says, also as a new execution', async () => {
  const fill = calls(...['a', 'b', 'c', 'd'].map((what) => look(what)));
  const both = calls(look(), glance);
  const run = await start([both, both, fill, { text: 'one' }, both, told], { session: true });
  await run.awaitsUser(4);
  expect(
    ran()
      .filter((line) => line.endsWith('sea'))
      .toSorted(),
  ).toEqual(['glance sea', 'look sea']);
  await say(run);
  await run.awaitsUser(6);
  const status = await run.status();
  expect(status.executions).toBeGreaterThan(1);
  expect(status.outcomes.slice(-2)).toMatchObject([
    { toolName: 'look', outcome: 'cached', resultOf: '1.1' },
    { toolName: 'glance', outcome: 'allowed', ran: 'yes' },
  ]);
  expect((await run.handle.query<Message[]>('transcript')).at(-1)?.content).toBe('{"saw":"sea"}');
  expect(await ruledAgain(run)).toMatchObject({ differing: [], notReRuled: [] });
  await run.handle.signal('close', {});
  await run.result();
});

describe('with another version of the worker', () => {
  afterEach(async () => {
    await world.stopWorker();
    await world.startWorker();
  });

  test('a tool whose definition has changed has no results from before', async () => {
    const turns = [calls(look()), { text: 'one' }, calls(look()), calls(look('sky')), calls(look()), told];
    const run = await start(turns, { session: true });
    await run.awaitsUser(2);
    await world.stopWorker();
    await world.startWorker({ agents: agentsIn(world.folder, 'Looks twice.') });
    await say(run);
    await run.awaitsUser(6);
    // The run knows of the change once it has called the tool.
    expect((await run.status()).outcomes.map(({ callId, outcome, ran: how }) => `${callId} ${outcome} ${how}`)).toEqual(
      ['1.1 allowed yes', '3.1 cached no', '4.1 allowed no', '4.1.2 allowed yes', '5.1 allowed yes'],
    );
    await run.handle.signal('close', {});
    await run.result();
  });
});
