import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { agentsModule, cli, startCli } from './support.ts';
import { noServer } from './in-process.ts';

/** The tests that wait seconds for a server run concurrently. */
const nowhere = ['--address', '127.0.0.1:1'];
const folder = mkdtempSync(join(tmpdir(), 'countersign-cli-'));
writeFileSync(join(folder, 'bad.yaml'), 'version: 1\nrules:\n  - { pattern: "a", action: maybe }\n');
writeFileSync(join(folder, 'worse.yaml'), 'rulez: []\nrules:\n  - { pattern: "a", action: maybe }\n');
mkdirSync(join(folder, 'module'));
writeFileSync(join(folder, 'module/lost.ts'), `export default { agents: [], policy: 'lost.yaml' };\n`);
writeFileSync(join(folder, 'throws.ts'), 'throw new Error("not today");\n');
writeFileSync(join(folder, 'empty.ts'), 'export default { tools: [] };\n');
afterAll(() => rmSync(folder, { recursive: true }));

describe('help', () => {
  test('in a process of its own', async () => {
    expect(await startCli(['--help']).ended).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Usage: countersign /),
    });
  });

  test('without a command: help, and exit 2', async () => {
    const { code, stderr } = await cli([]);
    expect([code, stderr.split('\n')[0]]).toEqual([2, 'Usage: countersign [options] [command]']);
  });

  test('--version', async () => {
    expect(await cli(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });
});

describe('wrong use: one sentence, exit 2', () => {
  test.each<[string[], string]>([
    [['bogus'], "error: unknown command 'bogus'"],
    [['aprove', 'x'], "error: unknown command 'aprove' (Did you mean approve?)"],
    [['policy', 'chek', 'x'], "error: unknown command 'chek' (Did you mean check?)"],
    [['approvals', 'shwo', 'x'], "error: unknown command 'shwo' (Did you mean show?)"],
    [['approvals', 'zzz'], "error: unknown command 'zzz'"],
    [['approvals', 'list', 'x'], "error: too many arguments for 'list'. Expected 0 arguments but got 1: x."],
    [['grants', 'revok', 'x', '--all'], "error: unknown command 'revok' (Did you mean revoke?)"],
    [['payloads', 'claen'], "error: unknown command 'claen' (Did you mean clean?)"],
    [['approve', 'x', '--rason', 'y'], "error: unknown option '--rason' (Did you mean --reason?)"],
    [['\u001b[2J'], "error: unknown command '\\u{001B}[2J'"],
    [['--run', 'x', 'approvals'], 'error: Flags follow the command: countersign COMMAND --run'],
    [
      ['approve'],
      'error: Say which request: its id, or --all for every one that waits, as in countersign approve --all.',
    ],
    [['approve', 'x', '--bogus'], "error: unknown option '--bogus'"],
    [
      ['approve', 'x', '--always', 'ever'],
      "error: option '--always [what]' argument 'ever' is invalid. Allowed choices are call, arguments, tool.",
    ],
    [['approve', 'x', '--uses', '3'], 'error: --match, --expires and --uses say how far --always goes: add --always.'],
    [
      ['deny', 'x', '--always', '--expires', '1h'],
      'error: Say what --expires and --uses limit: --always call, --always arguments --match FIELD=GLOB, or --always tool.',
    ],
    [
      ['approve', 'x', '--always', 'arguments'],
      'error: --always arguments goes with --match FIELD=GLOB, such as --match to=*@acme.com.',
    ],
    [
      ['approve', 'x', '--always', 'tool', '--match', 'to=a'],
      'error: --always arguments goes with --match FIELD=GLOB, such as --match to=*@acme.com.',
    ],
    [
      ['approve', 'x', '--always', '--match', 'to'],
      "error: --match takes FIELD=GLOB, such as to=*@acme.com, not 'to'.",
    ],
    [
      ['respond', 'x'],
      "error: Give the answer that the model gets instead of the tool's result: TEXT, or --json-value JSON.",
    ],
    [
      ['respond', 'x', 'text', '--json-value', '1'],
      "error: Give the answer that the model gets instead of the tool's result: TEXT, or --json-value JSON.",
    ],
    [['edit', 'x'], "error: required option '--args <json>' not specified"],
    [['edit', 'x', '--args', '[]'], 'error: --args must be an object with all arguments.'],
    [['edit', 'x', '--args', '@none.json'], 'error: --args: none.json cannot be read: there is no such file.'],
    [['extend', 'x'], 'error: Say how long it may wait: --until INSTANT, or --for 30m.'],
    [['extend', 'x', '--until', 'y', '--for', '1h'], 'error: Say how long it may wait: --until INSTANT, or --for 30m.'],
    [['extend', 'x', '--for', 'a while'], 'error: --for must be a whole number and a unit, such as 30s, 5m, 1h or 1d.'],
    [['delegate', 'x'], 'error: Say who decides: add --to NAME.'],
    [['grants', 'list'], "error: missing required argument 'run'"],
    [
      ['grants', 'revoke', 'x'],
      'error: Say which grants: their ids, as `countersign grants list` shows them, or --all.',
    ],
    [
      ['grants', 'revoke', 'x', 'grant-1', '--all'],
      'error: Say which grants: their ids, as `countersign grants list` shows them, or --all.',
    ],
    [
      ['policy', 'apply', 'x'],
      'error: Say what to apply: a policy file, --mode MODE, --channels NAME, or several of them.',
    ],
    [['policy', 'apply', 'x', 'none.yaml'], 'error: The policy none.yaml cannot be read: there is no such file.'],
    [['message', 'x'], 'error: Give the message that the agent gets: TEXT, or - to read standard input.'],
    [['message', 'x', 'y', '--sign', 'z'], "error: unknown option '--sign'"],
    [['close'], "error: missing required argument 'run'"],
    [
      ['approvals', 'preview', '--channel', 'fax'],
      "error: option '--channel <channel>' argument 'fax' is invalid. Allowed choices are terminal, markdown, html, slack, text.",
    ],
    [
      ['approvals', '--limit', '0'],
      "error: option '--limit <n>' argument '0' is invalid. It must be a whole number from 1 to 10000.",
    ],
    [['server', '--address', 'x'], 'error: `server` always listens on 127.0.0.1: choose its port with --port.'],
    [['run', 'a'], 'error: The agent needs an input: give --input TEXT, or --input - to read standard input.'],
    [
      ['run', 'a', '--input', 'x', '--policy', 'none.yaml'],
      'error: The policy none.yaml cannot be read: there is no such file.',
    ],
  ])('%j', async (args, sentence) => {
    expect(await cli(args)).toEqual({ code: 2, stdout: '', stderr: `${sentence}\n` });
    // As JSON, wherever --json stands.
    const message = sentence.replace('error: ', '').replace('\\u{001B}', '\u001b');
    const { code, stdout, stderr } = await cli([...args, '--json']);
    expect([code, stdout, JSON.parse(stderr)]).toEqual([2, '', { code: 'usage', message }]);
  });

  test.concurrent.each<[string[], string]>([
    [
      ['worker'],
      'error: There is no countersign.config.ts or countersign.config.js here: name the module that exports your agents.',
    ],
    [['worker', 'none.ts'], 'error: There is no module FOLDER/none.ts.'],
    [
      ['approvals', '--address', 'http://127.0.0.1:7233'],
      "error: 'http://127.0.0.1:7233' is not an address: write HOST:PORT, such as 127.0.0.1:7233.",
    ],
    [
      ['worker', agentsModule, '--address', 'not a host'],
      "error: 'not a host' is not an address: write HOST:PORT, such as 127.0.0.1:7233.",
    ],
    [
      ['doctor', '--address', '127.0.0.1:99999'],
      "error: '127.0.0.1:99999' is not an address: write HOST:PORT, such as 127.0.0.1:7233.",
    ],
    [['worker', 'empty.ts'], 'error: FOLDER/empty.ts must export default { agents: […], tools?, policy? }.'],
  ])('%j', async (args, sentence) => {
    const result = await cli(args, { cwd: folder });
    expect(result).toEqual({ code: 2, stdout: '', stderr: `${sentence.replace('FOLDER', folder)}\n` });
  });
});

describe('in a process of its own, an error', () => {
  test.concurrent.each([
    ['of the command line', ['aprove', 'x'], 2, "error: unknown command 'aprove' (Did you mean approve?)\n"],
    ['of the command line, as JSON', ['aprove', '--json'], 2, /^\{"code":"usage","message":"unknown command 'aprove'/],
    [
      'of the server',
      ['show', 'x', ...nowhere],
      6,
      /^error: No Temporal server answered at 127\.0\.0\.1:1 in time: .+\n$/,
    ],
  ])('%s is its exit code', async (_of, args, code, sentence) => {
    expect(await startCli(args, { env: noServer }).ended).toEqual({
      code,
      stdout: '',
      stderr: typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
    });
  });
});

test.concurrent('what a command finds wrong is an exit code, too', async () => {
  const { code, stdout, stderr } = await startCli(['policy', 'check', 'bad.yaml'], { cwd: folder }).ended;
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^bad\.yaml:3:\d+ .+\n$/)]);
  expect(stderr).toBe('');
});

describe('nothing reachable: one sentence, exit 6', () => {
  test.concurrent.each([
    [['approvals']],
    [['approvals', 'show', '0'.repeat(32)]],
    [['approve', '0'.repeat(32)]],
    [['show', 'x']],
    [['run', 'a', '--input', 'x']],
    [['setup']],
    [['worker', agentsModule]],
  ])('%j without a server', async (args) => {
    const { code, stdout, stderr } = await cli([...args, ...nowhere], { env: noServer });
    expect([code, stdout, stderr]).toEqual([
      6,
      '',
      'error: No Temporal server answered at 127.0.0.1:1 in time: start one with `countersign server`, or name another with --address or TEMPORAL_ADDRESS.\n',
    ]);
  });

  test.concurrent('run without a worker starts nothing', async () => {
    const id = `never-${process.pid}-${Date.now()}`;
    const { code, stderr } = await cli(['run', 'a', '--input', 'x', '--task-queue', 'nobody', '--id', id]);
    expect([code, stderr]).toEqual([
      6,
      "error: No worker answers for task queue 'nobody' of namespace 'default': start one with `countersign worker`.\n",
    ]);
    expect((await cli(['show', id])).code).toBe(3);
  });
});

describe('errors', () => {
  test.concurrent('a policy that does not load names its line and column', async () => {
    const { code, stderr } = await cli(['run', 'a', '--input', 'x', '--policy', 'bad.yaml'], { cwd: folder });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: bad\.yaml:3:\d+ .+\n$/);
  });

  test.concurrent('several problems of a policy have a line each', async () => {
    const { code, stderr } = await cli(['run', 'a', '--input', 'x', '--policy', 'worse.yaml'], { cwd: folder });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: worse\.yaml:1:1 .+\nworse\.yaml:3:\d+ .+\n$/);
  });

  test.concurrent.each([['module/lost.ts', `the worker's policy: no file ${folder}/module/lost.yaml`]])(
    'a module that needs what is not there: %s',
    async (module, message) => {
      const { code, stderr } = await cli(['worker', module], { cwd: folder });
      expect([code, stderr]).toEqual([1, `error: ${message}\n`]);
    },
  );

  test.concurrent('a module that throws', async () => {
    const { code, stderr } = await cli(['worker', 'throws.ts'], { cwd: folder });
    expect([code, stderr]).toEqual([1, `error: ${folder}/throws.ts cannot be loaded: not today\n`]);
  });

  test.concurrent('with --json an error is JSON', async () => {
    const { stderr } = await cli(['approvals', '--json', ...nowhere], { env: noServer });
    expect(JSON.parse(stderr)).toEqual({ code: 'server_unreachable', message: expect.stringContaining('127.0.0.1:1') });
  });

  test.concurrent('the stack is shown only with --debug', async () => {
    const { stderr } = await cli(['approvals', '--debug', ...nowhere], { env: noServer });
    expect(stderr).toMatch(/^error: No Temporal server .+\nProblemError: .+\n {4}at /);
  });
});
