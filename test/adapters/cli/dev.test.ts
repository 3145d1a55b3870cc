import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { descendantsOf, isRunning } from '../../support/child-processes.ts';
import { eventually } from '../../support/eventually.ts';
import { listen } from '../../support/listen.ts';
import { type RunningCli, cli, jsonLines, startCli } from './support.ts';

/** `countersign dev` as a person uses it, with a module in a folder of its own. */

const root = join(import.meta.dirname, '../../..');
const freePorts = ['--port', '0', '--ui-port', '0', '--gateway-port', '0'];
type Line = { event: string } & Record<string, unknown>;

let folder: string;
let dev: RunningCli | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-test-dev-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  write('agent.ts', agentModule);
  write('tools.ts', toolModule('one'));
  write('policy.yaml', 'rules: [{ pattern: greet, action: allow }]\n');
});

afterEach(async () => {
  dev?.child.kill('SIGKILL');
  await dev?.ended;
  dev = undefined;
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

const agentModule = `
import { defineAgent, scriptedModel } from '${root}/src/index.ts';
import { greet } from './tools.ts';

const turns = [{ calls: [{ tool: 'greet', args: {} }] }, { text: 'Done.' }];
export default {
  agents: [defineAgent({ name: 'greeter', instructions: 'Greet.', model: scriptedModel(turns), tools: [greet] })],
  policy: 'policy.yaml',
};
`;

function toolModule(answer: string): string {
  return `
import { appendFileSync } from 'node:fs';
import { z } from 'zod';
import { defineTool } from '${root}/src/index.ts';

export const greet = defineTool({
  name: 'greet',
  description: 'Greets.',
  input: z.object({}),
  execute: () => appendFileSync('${folder}/said', '${answer} '),
});
`;
}

function startDev(): RunningCli {
  dev = startCli(['dev', join(folder, 'agent.ts'), ...freePorts]);
  return dev;
}

function eventsOf(name: string): Line[] {
  const text = dev!.stdout();
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line])).filter(({ event }) => event === name);
}

/** The event `name` for the time `count`. */
async function comes(name: string, count = 1): Promise<Line> {
  try {
    return await eventually(`event ${name} ${count}`, () => eventsOf(name)[count - 1]);
  } catch (error) {
    throw new Error(`it printed ${dev!.stdout()} and ${dev!.stderr()}`, { cause: error });
  }
}

test('starts everything, follows the files of the module, keeps a worker that works, and leaves nothing', async () => {
  const { child, ended } = startDev();
  const { url, address, uiUrl } = await comes('ready');
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/inbox\/$/);
  expect((await fetch(String(uiUrl))).status).toBe(200);
  expect((await fetch(String(url))).headers.get('content-type')).toBe('text/html; charset=utf-8');
  const inbox = new URL('/approvals', String(url));
  expect(await (await fetch(inbox)).json()).toMatchObject({ approvals: [] });
  const agents = new URL('/agents', String(url));
  expect(await (await fetch(agents)).json()).toEqual({ agents: ['greeter'], complete: true });
  const policy = await (await fetch(new URL('/policy', String(url)))).json();
  expect(policy).toMatchObject({
    present: { runs: 0, rules: [{ place: 'policy.yaml:1', rule: { pattern: 'greet' } }] },
  });

  const run = async (id: string): Promise<unknown> => {
    const result = await cli(['run', 'greeter', '--input', 'x', '--id', id, '--address', String(address)]);
    return jsonLines(result)[0]?.['outcomes'];
  };
  const ran = [{ toolName: 'greet', outcome: 'allowed', ran: 'yes' }];
  expect(await run('first')).toMatchObject(ran);
  expect(said()).toBe('one ');

  // A file that the module imports
  write('tools.ts', toolModule('two'));
  expect(await comes('changed')).toMatchObject({ files: [join(folder, 'tools.ts')] });
  await comes('worker', 2);
  expect(await run('second')).toMatchObject(ran);
  expect(said()).toBe('one two ');

  // A syntax error, and then a policy with an error: the worker before goes on.
  write('tools.ts', 'export const greet = ;');
  const { message, kept } = await comes('broken');
  expect(kept).toBe(true);
  expect(message).toMatch(/^\S+agent\.ts cannot be loaded: Expression expected \(\S*tools\.ts:1\)$/);
  expect(await run('third')).toMatchObject(ran);
  write('tools.ts', toolModule('three'));
  await comes('worker', 3);
  write('policy.yaml', 'rulez: []\n');
  expect((await comes('broken', 2)).message).toContain("policy.yaml:1:1 unknown key 'rulez'");
  expect(await run('fourth')).toMatchObject(ran);
  expect(said()).toBe('one two two three ');

  // The policy
  write('policy.yaml', 'rules: [{ pattern: greet, action: deny, reason: Quiet. }]\n');
  await comes('worker', 4);
  expect(await run('fifth')).toMatchObject([{ outcome: 'denied_by_policy', ran: 'no' }]);

  // A worker that dies
  const dies = `setInterval(() => existsSync('${folder}/dies') && process.exit(3), 50);`;
  write('agent.ts', `import { existsSync } from 'node:fs';\n${agentModule}${dies}\n`);
  await comes('worker', 5);
  write('dies', '');
  expect((await comes('ended')).message).toMatch(/^The worker ended by itself: /);
  write('agent.ts', agentModule);
  await comes('worker', 6);
  expect(await run('sixth')).toMatchObject([{ outcome: 'denied_by_policy' }]);

  // A worker that is killed, as soon as it is there
  write('agent.ts', `${agentModule}\n`);
  const { pid } = await comes('worker', 7);
  process.kill(Number(pid), 'SIGKILL');
  expect(await comes('ended', 2)).toMatchObject({ message: 'The worker was killed.' });
  await comes('worker', 8);
  expect(await run('seventh')).toMatchObject([{ outcome: 'denied_by_policy' }]);

  const processes = await descendantsOf(child.pid!);
  expect(processes.length).toBeGreaterThanOrEqual(2);
  child.kill('SIGINT');
  child.kill('SIGINT'); // npm forwards the signal that the terminal has already sent.
  expect((await ended).code).toBe(0);
  expect((await Promise.all(processes.map(isRunning))).filter(Boolean)).toEqual([]);
  await expect(fetch(inbox)).rejects.toThrow('fetch failed');
});

function said(): string {
  return readFileSync(join(folder, 'said'), 'utf8');
}

test('waits for a module that is broken or incomplete at first, and ends with its process', async () => {
  rmSync(join(folder, 'tools.ts'));
  const { child } = startDev();
  expect(await comes('broken')).toMatchObject({ kept: false, message: expect.stringContaining('Cannot find module') });
  expect(eventsOf('ready')).toEqual([]);
  write('tools.ts', toolModule('one'));
  await comes('ready');
  const processes = await descendantsOf(child.pid!);
  child.kill('SIGKILL');
  for (const each of processes) await eventually(`${each} is gone`, async () => !(await isRunning(each)));
});

test('Ctrl-C while it starts leaves nothing', async () => {
  const { child, ended } = startDev();
  const processes = await eventually('a child', async () => {
    const found = await descendantsOf(child.pid!);
    return found.length > 0 && found;
  });
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
  expect((await Promise.all(processes.map(isRunning))).filter(Boolean)).toEqual([]);
});

test.each([
  [['nowhere.ts'], /^error: There is no module .*nowhere\.ts\.\n$/],
  [[], /^error: There is no countersign\.config\.ts or \.js here: name the module\.\n$/],
  [['agent.ts', '--address', 'there:7233'], /^error: `dev` starts a Temporal server of its own on 127\.0\.0\.1/],
])('dev %j is refused in one sentence', async (words, sentence) => {
  const { code, stdout, stderr } = await cli(['dev', ...words], { cwd: folder });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(sentence);
});

test('a port in use is named', async () => {
  const { port, close } = await listen(createServer());
  const { code, stderr } = await cli(['dev', 'agent.ts', ...freePorts, '--gateway-port', String(port)], {
    cwd: folder,
  });
  await close();
  expect([code, stderr]).toEqual([
    2,
    `error: Port ${port} is taken: stop what listens there or choose another with --gateway-port.\n`,
  ]);
});
