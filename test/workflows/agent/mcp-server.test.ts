import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mcpServer } from '../../../packages/mcp/src/index.ts';
import { type AgentOptions, defineAgent } from '../../../src/agents/define-agent.ts';
import type { Agent, Toolset } from '../../../src/agents/definitions.ts';
import { cardOf, renderTerminal } from '../../../src/card.ts';
import type { RunResult } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { faultServer, type FaultTool, injection, listTools } from '../../mcp/mcp-fault-server.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { testAgent } from '../../support/test-agent.ts';
import { type RunInTest, type Turns, type World, openWorld } from '../../support/world.ts';

/** Tools of real MCP servers in real runs: what a call costs, and what becomes of each fault of a server. */

const root = join(import.meta.dirname, '..', '..', '..');
const secrets = { token: 'tok-5f0c1e9a7b3d4e2f', key: 'key-8a6b5c4d3e2f1a0b', env: 'env-2b3c4d5e6f7a8b9c' };

const note: FaultTool = {
  name: 'note',
  description: 'Notes a text.',
  inputSchema: { properties: { text: { type: 'string' } }, required: ['text'] },
};
const plain = (name: string): FaultTool => ({ name, description: `Does ${name}.` });
const usual = [note, ...['big', 'inject', 'refuse', 'hang', 'exit', 'ask'].map(plain)];

let world: World;
let http: Server;
let isTokenKnown = true;
/** The agent of docs/mcp.md. */
let page: Agent;

beforeAll(async () => {
  world = await openWorld({ worker: false, agentsIn: agentsOf });
  mkdirSync(join(world.folder, 'files'));
  writeFileSync(join(world.folder, 'files', 'may.txt'), 'hello');
  http = await serveHttp(world.folder);
  // As `npm test` sets it: the page names the program of an installed package.
  process.env.PATH = `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`;
  page = await pageAgent(world.folder);
  await world.startWorker();
});
afterAll(async () => {
  await world.close();
  http.closeAllConnections();
  http.close();
});
beforeEach(() => {
  listTools(world.folder, usual);
  rmSync(join(world.folder, 'ran.log'), { force: true });
  isTokenKnown = true;
});

function agentsOf(folder: string): Agent[] {
  const main = join(root, 'test', 'mcp', 'mcp-fault-server-main.ts');
  const serverOf = (name: string, more: { timeoutMs?: number; startTimeoutMs: number }): Toolset =>
    mcpServer({ name, command: process.execPath, args: [main, folder, name], env: { KEY: secrets.env }, ...more });
  const faults = serverOf('faults', { startTimeoutMs: 20_000 });
  const slow = serverOf('slow', { timeoutMs: 500, startTimeoutMs: 20_000 });
  const { port } = http.address() as AddressInfo;
  const remote = mcpServer({
    name: 'remote',
    url: `http://127.0.0.1:${port}/mcp`,
    headers: { 'x-api-key': secrets.key },
    auth: async () => secrets.token,
  });
  const missing = mcpServer({ name: 'missing', command: 'no-such-program' });
  const { tools } = testAgent(folder);
  const agent = (name: string, given: NonNullable<AgentOptions['tools']>): Agent =>
    defineAgent({
      name,
      instructions: 'Play your script.',
      model: promptScripted(),
      tools: given,
      policy: {
        rules: [
          { pattern: 'faults__*', action: 'allow' },
          { pattern: 'remote__*', action: 'allow' },
          { pattern: 'slow__*', action: 'allow' },
          { pattern: '*__note', action: 'ask' },
        ],
      },
    });
  return [
    agent('tester', [...tools, faults]),
    agent('caller', [remote]),
    agent('impatient', [slow]),
    page,
    agent('filer', page.toolsets),
    agent('lonely', [...tools, missing]),
  ];
}

async function pageAgent(folder: string): Promise<Agent> {
  const text = readFileSync(join(root, 'docs', 'mcp.md'), 'utf8');
  const [, code] = /```ts mcp\n([^]*?)```/.exec(text)!;
  const file = join(folder, 'page.mjs');
  const runnable = code!
    .replace("'countersign'", JSON.stringify(join(root, 'src', 'index.ts')))
    .replace("'@countersign/mcp'", JSON.stringify(join(root, 'packages', 'mcp', 'src', 'index.ts')))
    .replaceAll('/srv/reports', join(folder, 'files'));
  writeFileSync(file, runnable);
  const { clerk } = (await import(file)) as { clerk: Agent };
  return clerk;
}

async function serveHttp(folder: string): Promise<Server> {
  const handler = createMcpHandler(() => faultServer(folder, () => undefined));
  const listen = getRequestListener(async (request) => {
    const { headers } = request;
    const isKnown =
      headers.get('authorization') === `Bearer ${secrets.token}` && headers.get('x-api-key') === secrets.key;
    return isKnown && isTokenKnown ? handler.fetch(request) : new Response(secrets.token, { status: 401 });
  });
  const server = createServer((request, response) => void listen(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const call = (tool: string, args = {}): Turns[number] => ({ calls: [{ tool: `faults__${tool}`, args }] });
const last: Turns[number] = { text: '{{lastResult}}' };
const play = async (turns: Turns, agent = 'tester'): Promise<RunResult> => {
  const run = await world.start(turns, { agent });
  return run.result();
};
const approve = async (run: RunInTest): Promise<void> => {
  const [request] = await run.open();
  await world.client.decide({ requestId: request!.requestId, approved: true }, { workflowId: run.workflowId });
};
const eventsOf = async ({ handle }: RunInTest): Promise<unknown[]> => {
  const { events = [] } = await handle.fetchHistory();
  return events!.map(({ eventType }) => eventType);
};

describe('costs what a tool of your own costs', () => {
  test('an allowed call: the same events', async () => {
    const own = await world.start([{ calls: [{ tool: 'look', args: { what: 'it' } }] }, { text: 'done' }], {
      agent: 'tester',
    });
    const read = { tool: 'files__read_text_file', args: { path: join(world.folder, 'files', 'may.txt') } };
    const mcp = await world.start([{ calls: [read] }, last], { agent: 'filer' });
    await expect(mcp.result()).resolves.toMatchObject({
      output: '{"content":"hello"}',
      outcomes: [{ outcome: 'allowed', ran: 'yes' }],
    });
    await own.result();
    expect(await eventsOf(mcp)).toEqual(await eventsOf(own));
  });

  test('an asked call: the same ten events more', async () => {
    const own = await world.start([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 1 } }] }, { text: 'done' }], {
      agent: 'tester',
    });
    const mcp = await world.start([call('note', { text: 'hi' }), last], { agent: 'tester' });
    for (const run of [own, mcp]) {
      const [request] = await run.open();
      await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
    }
    await expect(mcp.result()).resolves.toMatchObject({
      output: 'did note',
      outcomes: [{ outcome: 'approved', ran: 'yes' }],
    });
    await own.result();
    expect(await eventsOf(mcp)).toEqual(await eventsOf(own));
    expect(world.ran()).toEqual(expect.arrayContaining(['note hi']));
  });
});

describe('a call that was approved before the server changed does not run', () => {
  test.each<[string, FaultTool[], RegExp]>([
    ['its description', [{ ...note, description: 'Notes a text, and sends it on.' }], /has changed since this run/],
    ['its schema', [{ ...note, inputSchema: { properties: { text: {}, to: {} } } }], /has changed since this run/],
    ['its annotations', [{ ...note, annotations: { readOnlyHint: true } }], /has changed since this run/],
    ['its name', [{ ...note, name: 'note2' }], /^Error: 'faults' has no tool 'faults__note' now$/],
    ['its name, but for a character', [{ ...note, name: 'no.te' }, plain('no te')], /has no tool/],
    ['nothing, and another one takes its name', [note, { ...note, description: 'x' }], /has no tool/],
  ])('%s', async (_what, listed, said) => {
    const run = await world.start([call('note', { text: 'hi' }), last]);
    await run.open();
    listTools(world.folder, listed);
    await approve(run);
    await expect(run.result()).resolves.toMatchObject({
      output: expect.stringMatching(said),
      outcomes: [{ outcome: 'approved', ran: 'no' }],
    });
    expect(world.ran()).toEqual([]);
  });

  test('nor does one that the policy allows; a run that starts then takes the tool as it is', async () => {
    const changed = { ...plain('refuse'), description: 'Refuses more.' };
    const run = await world.start([call('note', { text: 'hi' }), call('refuse'), last]);
    await run.open();
    listTools(world.folder, [note, changed]);
    await approve(run);
    await expect(run.result()).resolves.toMatchObject({
      outcomes: [{ ran: 'yes' }, { outcome: 'allowed', ran: 'no' }],
    });
    expect(world.ran()).toEqual(['note hi']);
    expect((await play([call('refuse'), last])).output).toBe('Error: the disk is full');
  });

  test('a tool that the server lists later is no tool of the run', async () => {
    const run = await world.start([call('note', { text: 'hi' }), call('later'), last]);
    await run.open();
    listTools(world.folder, [...usual, plain('later')]);
    await approve(run);
    expect((await run.result()).output).toBe("Error: tool 'faults__later' not found");
    expect(world.ran()).toEqual(['note hi']);
  });
});

describe('a fault of a server is a result', () => {
  test.each<[string, Turns[number], string | RegExp, object]>([
    [
      'ten megabytes',
      call('big'),
      /^the tool ran; its result cannot be given \(it has 10000002 bytes, and at most \d+ can be kept\); do not repeat it$/,
      { ran: 'yes' },
    ],
    ['an error of the tool', call('refuse'), 'Error: the disk is full', { ran: 'yes' }],
    ['an end in the middle', call('exit'), /^Unknown: the tool was started but its/, { ran: 'unknown' }],
    ['requests of its own', call('ask'), 'refused; refused; refused', { ran: 'yes' }],
    ['arguments that do not fit', call('note', { text: 1 }), 'Error: arguments.text: expected string', { ran: 'no' }],
  ])('%s', async (_what, turn, output, outcome) => {
    await expect(play([turn, last])).resolves.toMatchObject({
      status: 'completed',
      output: typeof output === 'string' ? output : expect.stringMatching(output),
      outcomes: [outcome],
    });
    // A server that has ended is there again.
    expect((await play([call('refuse'), last])).output).toBe('Error: the disk is full');
  });

  test('an answer that pretends to be others is shown escaped', async () => {
    const run = await world.start([call('inject'), { text: injection, ...call('note', { text: injection }) }, last]);
    const [request] = await run.open();
    const details = await world.client.approvals.get(request!.requestId);
    const card = renderTerminal(cardOf(details), { width: 100 });
    expect(card).toContain('\\u{202E}');
    for (const each of ['\u202e', '\u0007', '\u001b[2J']) expect(card).not.toContain(each);
    await approve(run);
    await run.result();
    expect(world.ran()[0]).toBe('inject');
  });

  test('no answer in time', async () => {
    const turns = [{ calls: [{ tool: 'slow__hang', args: {} }] }, last];
    await expect(play(turns, 'impatient')).resolves.toMatchObject({
      status: 'completed',
      output: expect.stringMatching(/^Unknown: the tool was started but its outcome is not known/),
      outcomes: [{ outcome: 'allowed', ran: 'unknown' }],
    });
  });

  test('a server that stops listing its tools', async () => {
    const turns = [{ calls: [{ tool: 'slow__note', args: { text: 'hi' } }] }, last];
    const run = await world.start(turns, { agent: 'impatient' });
    await run.open();
    writeFileSync(join(world.folder, 'silent'), '');
    await approve(run);
    await expect(run.result()).resolves.toMatchObject({
      output: "Error: 'slow' cannot be used now: it did not answer in time",
      outcomes: [{ outcome: 'approved', ran: 'no' }],
    });
    rmSync(join(world.folder, 'silent'));
    expect((await play([call('refuse'), last])).output).toBe('Error: the disk is full');
  });

  test('a server that is not there when the run starts', async () => {
    const run = await world.start([{ calls: [{ tool: 'look', args: { what: 'it' } }] }, last], { agent: 'lonely' });
    expect((await run.result()).output).toBe('saw it');
    const { events } = await run.handle.fetchHistory();
    const [loaded] = events!.filter(({ activityTaskCompletedEventAttributes: end }) => end != null);
    expect(Buffer.from(loaded!.activityTaskCompletedEventAttributes!.result!.payloads![0]!.data!).toString()).toContain(
      String.raw`Play your script.\n\nNot available in this run: the tools of 'missing', which could not be listed when it started.`,
    );
  });
});

describe('by HTTP', () => {
  test('a call takes headers and a token along, and nothing of them is in history', async () => {
    const run = await world.start([{ calls: [{ tool: 'remote__refuse', args: {} }] }, last], { agent: 'caller' });
    expect((await run.result()).output).toBe('Error: the disk is full');
    const history = JSON.stringify(await run.handle.fetchHistory());
    const readable = Buffer.from(history).toString('latin1');
    for (const each of Object.values(secrets)) {
      expect(readable).not.toContain(each);
      expect(readable).not.toContain(Buffer.from(each).toString('base64').slice(2, -4));
    }
  });

  test('a token that no longer counts: the call does not run, and the error holds nothing of it', async () => {
    const turns = [{ calls: [{ tool: 'remote__note', args: { text: 'hi' } }] }, last];
    const run = await world.start(turns, { agent: 'caller' });
    await run.open();
    isTokenKnown = false;
    await approve(run);
    await expect(run.result()).resolves.toMatchObject({
      output: "Error: 'remote' cannot be used now: it refuses the token (HTTP 401)",
      outcomes: [{ outcome: 'approved', ran: 'no' }],
    });
    expect(world.ran()).toEqual([]);
  });
});

test("the page's example runs: it reads at once, and asks before it writes", async () => {
  const run = await world.start([], { agent: 'clerk' });
  const [request] = await run.open();
  expect(request).toMatchObject({ toolName: 'files__write_file', riskLevel: 'destructive' });
  await approve(run);
  await expect(run.result()).resolves.toMatchObject({
    output: 'June is written.',
    outcomes: [
      { outcome: 'allowed', ran: 'yes' },
      { outcome: 'approved', ran: 'yes' },
    ],
  });
  expect(readFileSync(join(world.folder, 'files', 'june.txt'), 'utf8')).toBe('Quiet.');
});

test('the process of a server ends with its worker', async () => {
  await play([call('refuse'), last]);
  const pid = Number(readFileSync(join(world.folder, 'pid-faults'), 'utf8'));
  expect(existsSync(`/proc/${pid}`)).toBe(existsSync('/proc'));
  await world.stopWorker();
  const isAlive = (): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  await eventually('the end of the server', () => !isAlive());
});
