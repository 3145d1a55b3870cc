/** In a clone, Temporal's server is built where none is installed and none can be downloaded. */
import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pinnedTemporal, temporalPin, temporalVersion } from '../../packages/cli/src/dev-server/pinned-temporal.ts';
import { findTemporal } from '../../packages/cli/src/dev-server/start-dev-server.ts';
import { temporalOfClone } from '../../tools/temporal/temporal-of-clone.ts';
import { BareMachine, usable } from './bare-machine.ts';
import { childrenOf, isRunning } from '../support/child-processes.ts';
import { eventually } from '../support/eventually.ts';
import { serveRelease } from './serve-release.ts';

const remedy =
  'Install the temporal CLI (https://docs.temporal.io/cli), or set TEMPORAL_ADDRESS to a server that runs.';
const root = join(import.meta.dirname, '..', '..');

let machine: BareMachine;
let lines: string[];
beforeEach(() => {
  machine = new BareMachine();
  lines = [];
});
afterEach(() => machine.remove());

/** A slow compiler that writes a temporal to its output path. Each build adds a line to `builds`. */
function compiler(...before: string[]): void {
  machine.temporal(join(machine.folder, 'built'));
  for (const tool of ['cat', 'chmod', 'sleep']) machine.link(tool);
  machine.program(
    join(machine.bin, 'go'),
    `echo "$$" >> '${join(machine.folder, 'builds')}'`,
    'echo some/package >&2',
    ...before,
    'while [ "$1" != -o ]; do shift; done',
    `cat '${join(machine.folder, 'built')}' > "$2"`,
    'chmod 755 "$2"',
  );
}

function builds(): string[] {
  const file = join(machine.folder, 'builds');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

const find = (signal?: AbortSignal): Promise<string> =>
  temporalOfClone({ env: machine.env, log: (line) => lines.push(line), ...(signal && { signal }) });

test('the pin of the command line is that of the modules', () => {
  const [goMod, goSum] = ['go.mod', 'go.sum'].map((file) => readFileSync(join(root, 'tools/temporal', file), 'utf8'));
  expect(/^\s*github\.com\/temporalio\/cli (v\S+)/m.exec(goMod!)?.[1]).toBe(temporalVersion);
  expect(createHash('sha256').update(goMod!).update(goSum!).digest('hex').slice(0, 16)).toBe(temporalPin);
});

describe('what the commands find is not built', () => {
  test('the binary that the environment names', async () => {
    compiler();
    machine.env.COUNTERSIGN_TEMPORAL_BINARY = machine.temporal(join(machine.folder, 'mine'));
    expect(await find()).toBe(join(machine.folder, 'mine'));
    expect(builds()).toEqual([]);
  });

  test('and one that does not run is an error', async () => {
    compiler();
    machine.env.COUNTERSIGN_TEMPORAL_BINARY = join(machine.folder, 'mine');
    await expect(find()).rejects.toThrow(/^COUNTERSIGN_TEMPORAL_BINARY names/);
    expect(builds()).toEqual([]);
  });

  test('temporal on PATH', async () => {
    compiler();
    const installed = machine.temporal(join(machine.bin, 'temporal'));
    expect(await find()).toBe(installed);
    expect([builds(), machine.cached()]).toEqual([[], []]);
  });

  test('the cache', async () => {
    compiler();
    const { cacheFolder, binary } = pinnedTemporal(machine.env);
    mkdirSync(cacheFolder, { recursive: true });
    machine.temporal(binary);
    expect(await find()).toBe(binary);
    expect(builds()).toEqual([]);
  });

  test('the download', async ({ onTestFinished }) => {
    compiler();
    for (const tool of ['tar', 'gzip']) machine.link(tool);
    const server = await serveRelease({ content: `#!/bin/sh\necho '${usable}'\n` });
    onTestFinished(() => server.close());
    machine.env.COUNTERSIGN_TEMPORAL_DOWNLOAD = server.url;
    expect(await find()).toBe(pinnedTemporal(machine.env).binary);
    expect(builds()).toEqual([]);
  });
});

describe('a build', () => {
  test('is where the commands find it, and is not repeated', async () => {
    compiler();
    const first = await find();
    rmSync(join(machine.bin, 'go'));
    expect(await find()).toBe(first);
    expect(await findTemporal({ env: machine.env })).toBe(first);
    expect(builds()).toHaveLength(1);
    expect(machine.cached()).toEqual(['temporal']);
  });

  test('replaces a cached binary that does not run', async () => {
    compiler();
    const first = await find();
    writeFileSync(first, 'half a binary');
    expect(await find()).toBe(first);
    expect(builds()).toHaveLength(2);
  });

  test('follows a temporal on PATH that is too old', async () => {
    compiler();
    machine.temporal(join(machine.bin, 'temporal'), 'temporal version 0.13.2 (Server 1.24.2, UI 2.28.0)');
    expect(await find()).toContain(join(machine.folder, 'cache'));
    expect(lines[0]).toMatch(/^Skipping .* is too old/);
  });

  test('is shared by two concurrent callers', async () => {
    const mayEnd = join(machine.folder, 'may-end');
    compiler(`while [ ! -e '${mayEnd}' ]; do sleep 0.05; done`);
    const both = Promise.all([find(), find()]);
    await eventually('the second caller waits', () => lines.some((line) => line.startsWith('Waiting for process')));
    writeFileSync(mayEnd, '');
    const [one, two] = await both;
    expect(one).toBe(two);
    expect(builds()).toHaveLength(1);
    expect(lines).toContain(`Waiting for process ${process.pid}, which is getting the Temporal server.`);
  });

  test('reports what it does and how long it took', async () => {
    compiler();
    await find();
    expect(lines).toEqual([
      'There is no temporal on PATH that fits, and the download is switched off: building it with Go.',
      expect.stringMatching(/^Building the Temporal server v[\d.]+ from source \(once; 5 to 15 minutes\): 0:00$/),
    ]);
  });

  test('takes the lock of a dead process', async () => {
    compiler();
    const release = (await find()).replace(/[^/]+$/, '');
    const dead = spawn('/bin/sh', ['-c', 'exit 0']);
    await eventually('the end of the process', () => dead.exitCode !== null);
    rmSync(join(release, 'temporal'));
    writeFileSync(join(release, 'lock'), `${dead.pid} ${hostname()}`);
    writeFileSync(join(release, 'building-left-behind'), '');
    await find();
    expect(machine.cached()).toEqual(['temporal']);
  });

  test('ends with its compiler when it is aborted, and leaves nothing', async () => {
    compiler('sleep 600');
    const calledOff = new AbortController();
    const found = find(calledOff.signal);
    await eventually('a build', () => builds().length === 1);
    calledOff.abort();
    await expect(found).rejects.toThrow(/abort/i);
    expect(await isRunning(Number(builds()[0]))).toBe(false);
    expect(machine.cached()).toEqual([]);
  });

  test.each(['SIGINT', 'SIGKILL'] as const)('ends with its compiler when %s ends the process', async (signal) => {
    compiler('sleep 600');
    const finder = spawn(process.execPath, [join(import.meta.dirname, '../../tools/temporal/main.ts')], {
      env: machine.env,
      stdio: 'ignore',
    });
    await eventually('a build', () => builds().length === 1);
    // The watchdog starts right after the compiler; a process that dies between the two would leave a compiler.
    await eventually('compiler and watchdog', async () => (await childrenOf(finder.pid!)).length === 2);
    finder.kill(signal);
    await eventually('the end of the compiler', async () => !(await isRunning(Number(builds()[0]))));
  });
});

describe('if there is nothing to build it with, one sentence says what to install', () => {
  const unreachable = (message: string): object => ({ code: 'server_unreachable', message });

  test('no Go', async () => {
    await expect(find()).rejects.toMatchObject(
      unreachable(
        `No Temporal dev server: no temporal on PATH that fits, and the download is switched off; and no go on PATH, which would build it (Go 1.26 or newer, https://go.dev/dl). ${remedy}`,
      ),
    );
  });

  test('a Go that is too old', async () => {
    const complaint = 'go: go.mod requires go >= 1.26.4 (running go 1.22.2; GOTOOLCHAIN=local)';
    machine.program(join(machine.bin, 'go'), 'echo some/package >&2', `echo '${complaint}' >&2`, 'exit 1');
    await expect(find()).rejects.toMatchObject(
      unreachable(
        `No Temporal dev server: no temporal on PATH that fits, and the download is switched off; and go could not build it (1.26 or newer is needed): ${complaint}. ${remedy}`,
      ),
    );
    expect(machine.cached()).toEqual([]);
  });
});

describe('programs of the clone', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  /** Runs a script of package.json without npm, which is not on PATH. */
  const run = (script: string, ...words: string[]): SpawnSyncReturns<string> => {
    const [, ...program] = scripts[script]!.split(' ');
    return spawnSync(process.execPath, [...program, ...words], { cwd: root, env: machine.env, encoding: 'utf8' });
  };

  test.each(['countersign server', 'countersign dev', 'demo --yes', 'demo'])('`npm run %s` may build', (words) => {
    const [script, ...rest] = words.split(' ');
    expect(run(script!, ...rest)).toMatchObject({
      status: 6,
      stderr: expect.stringMatching(/^error: No Temporal dev server: .*; and no go on PATH, .*\n$/) as string,
    });
  });

  test.each(['countersign server --help', 'countersign approvals --help', 'countersign --version', 'demo --help'])(
    '`npm run %s` does not',
    (words) => {
      compiler();
      const [script, ...rest] = words.split(' ');
      expect(run(script!, ...rest).status).toBe(0);
      expect(builds()).toEqual([]);
    },
  );
});
