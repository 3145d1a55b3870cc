import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findTemporal } from '../../packages/cli/src/dev-server/find-temporal.ts';
import { childrenOf, isRunning } from '../support/child-processes.ts';
import { eventually } from '../support/eventually.ts';
import { serveRelease, type ReleaseServer } from './serve-release.ts';

const usable = 'temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)';
const remedy =
  'Install the temporal CLI (https://docs.temporal.io/cli) or Go 1.26 or newer (https://go.dev/dl), ' +
  'or set TEMPORAL_ADDRESS to a server that runs.';

let folder: string;
let bin: string;
let env: NodeJS.ProcessEnv;
let lines: string[];
let server: ReleaseServer | undefined;

/** A machine with an empty PATH, an empty cache and no network. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-find-'));
  bin = join(folder, 'bin');
  mkdirSync(bin);
  env = { PATH: bin, COUNTERSIGN_CACHE: join(folder, 'cache'), COUNTERSIGN_TEMPORAL_DOWNLOAD: 'off' };
  lines = [];
});

afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

function program(path: string, ...script: string[]): string {
  writeFileSync(path, ['#!/bin/sh', ...script, ''].join('\n'));
  chmodSync(path, 0o755);
  return path;
}

function temporal(path: string, version = usable): string {
  return program(path, `echo '${version}'`);
}

/** A slow compiler that writes a temporal to its output path. Each build adds a line to `builds`. */
function compiler(...before: string[]): void {
  temporal(join(folder, 'built'));
  for (const tool of ['cat', 'chmod', 'sleep']) link(tool);
  program(
    join(bin, 'go'),
    `echo "$$" >> '${join(folder, 'builds')}'`,
    'echo some/package >&2',
    ...before,
    'while [ "$1" != -o ]; do shift; done',
    `cat '${join(folder, 'built')}' > "$2"`,
    'chmod 755 "$2"',
  );
}

function link(tool: string): void {
  symlinkSync(execFileSync('/bin/sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim(), join(bin, tool));
}

function builds(): string[] {
  const file = join(folder, 'builds');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

/** Names of the files in the cache, which has one folder for each pinned release. */
function cached(): string[] {
  const root = join(folder, 'cache', 'temporal');
  return existsSync(root) ? readdirSync(root).flatMap((release) => readdirSync(join(root, release))) : [];
}

const find = (signal?: AbortSignal): Promise<string> =>
  findTemporal({ env, log: (line) => lines.push(line), ...(signal && { signal }) });

describe('an existing binary is used, in this order', () => {
  test('the binary that the environment names', async () => {
    temporal(join(bin, 'temporal'));
    env.COUNTERSIGN_TEMPORAL_BINARY = temporal(join(folder, 'mine'));
    expect(await find()).toBe(join(folder, 'mine'));
  });

  test('temporal on PATH, without touching cache, network or compiler', async () => {
    compiler();
    server = await serveRelease({});
    env.COUNTERSIGN_TEMPORAL_DOWNLOAD = server.url;
    temporal(join(bin, 'temporal'));
    expect(await find()).toBe(join(bin, 'temporal'));
    expect([server.requests, builds(), cached(), lines]).toEqual([[], [], [], []]);
  });

  test.each([
    ['temporal version 0.13.2 (Server 1.24.2, UI 2.28.0)', 'is too old (Server 1.24.2; 1.28 or newer is needed)'],
    ['temporal version 0.9.0 (Server 0.31.0, UI 2.28.0)', 'is too old (Server 0.31.0; 1.28 or newer is needed)'],
    ['something else 2.0', 'is not the temporal CLI'],
  ])('not a temporal on PATH that prints "%s"', async (version, why) => {
    compiler();
    temporal(join(bin, 'temporal'), version);
    expect(await find()).toContain(join(folder, 'cache'));
    expect(lines[0]).toBe(`Skipping ${join(bin, 'temporal')}, which ${why}.`);
  });

  test('the cache: a finished build is not repeated', async () => {
    compiler();
    const first = await find();
    expect(builds()).toHaveLength(1);
    rmSync(join(bin, 'go'));
    expect(await find()).toBe(first);
    expect(cached()).toEqual(['temporal']);
  });

  test('not a cached binary that does not run', async () => {
    compiler();
    const first = await find();
    writeFileSync(first, 'half a binary');
    expect(await find()).toBe(first);
    expect(builds()).toHaveLength(2);
  });
});

describe('the download', () => {
  beforeEach(() => {
    for (const tool of ['tar', 'gzip']) link(tool);
  });

  test('fetches the pinned release once and keeps it', async () => {
    server = await serveRelease({ content: `#!/bin/sh\necho '${usable}'\n` });
    env.COUNTERSIGN_TEMPORAL_DOWNLOAD = server.url;
    const first = await find();
    const asked = server.requests;
    expect(asked[0]).toMatch(/^\/v\d+\.\d+\.\d+\?arch=\w+&platform=\w+$/);
    expect(await find()).toBe(first);
    expect(asked).toHaveLength(2);
    expect(cached()).toEqual(['temporal']);
  });

  test.each([
    ['says no', { status: 503 }, 'status 503'],
    ['answers something else', { answer: '[]' }, 'an unexpected answer'],
    ['answers no JSON', { answer: '<html>' }, /JSON/],
    ['names a file elsewhere', { file: '../temporal' }, 'an archive of another shape'],
    ['names an option of tar', { file: '--to-command=sh' }, 'an archive of another shape'],
    ['sends no archive', { archive: Buffer.from('no archive') }, /tar/],
    ['breaks off', { breaksOff: true }, /terminated|aborted|closed/],
  ])('that %s is skipped in favour of a build', async (_case, release, why) => {
    compiler();
    server = await serveRelease(release);
    env.COUNTERSIGN_TEMPORAL_DOWNLOAD = server.url;
    await find();
    expect(builds()).toHaveLength(1);
    const said = lines.find((line) => line.endsWith('building it with Go.')) ?? '';
    const reason = /^No temporal on PATH, and 127\.0\.0\.1:\d+ did not give it \((.*)\): building it with Go\.$/.exec(
      said,
    )?.[1];
    expect(reason).toMatch(why);
    expect(cached()).toEqual(['temporal']);
  });

  test('that sends another program is skipped', async () => {
    server = await serveRelease({ content: '#!/bin/sh\necho hello\n' });
    env.COUNTERSIGN_TEMPORAL_DOWNLOAD = server.url;
    await expect(find()).rejects.toMatchObject({
      message: expect.stringContaining('the downloaded file is not the temporal CLI; and no go on PATH'),
    });
    expect(cached()).toEqual([]);
  });
});

describe('the build', () => {
  test('is shared by two concurrent callers', async () => {
    const mayEnd = join(folder, 'may-end');
    compiler(`while [ ! -e '${mayEnd}' ]; do sleep 0.05; done`);
    const both = Promise.all([find(), find()]);
    await eventually('the second caller waits', () => lines.some((line) => line.startsWith('Waiting for process')));
    writeFileSync(mayEnd, '');
    const [one, two] = await both;
    expect(one).toBe(two);
    expect(builds()).toHaveLength(1);
    expect(lines).toContain(
      `Waiting for process ${process.pid}, which is getting the Temporal dev server: 5 to 15 minutes if it builds it.`,
    );
  });

  test('reports what it does and how long it took', async () => {
    compiler();
    await find();
    expect(lines).toEqual([
      'No temporal on PATH, and the download is switched off: building it with Go.',
      expect.stringMatching(/^Building the Temporal dev server v[\d.]+ from source \(once; 5 to 15 minutes\): 0:00$/),
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
    expect(cached()).toEqual(['temporal']);
  });

  test('ends with its compiler when it is aborted, and leaves nothing', async () => {
    compiler('sleep 600');
    const calledOff = new AbortController();
    const found = find(calledOff.signal);
    await eventually('a build', () => builds().length === 1);
    calledOff.abort();
    await expect(found).rejects.toThrow(/abort/i);
    expect(await isRunning(Number(builds()[0]))).toBe(false);
    expect(cached()).toEqual([]);
  });

  test.each(['SIGINT', 'SIGKILL'] as const)('ends with its compiler when %s ends the process', async (signal) => {
    compiler('sleep 600');
    const finder = spawn(process.execPath, [join(import.meta.dirname, 'print-temporal.ts')], { env, stdio: 'ignore' });
    await eventually('a build', () => builds().length === 1);
    // The watchdog starts right after the compiler; a process that dies between the two would leave a compiler.
    await eventually('compiler and watchdog', async () => (await childrenOf(finder.pid!)).length === 2);
    finder.kill(signal);
    await eventually('the end of the compiler', async () => !(await isRunning(Number(builds()[0]))));
  });
});

describe('if nothing is available, one sentence says what to install', () => {
  const unreachable = (message: string): object => ({ code: 'server_unreachable', message });

  test('no temporal, no network, no Go', async () => {
    await expect(find()).rejects.toMatchObject(
      unreachable(
        `No Temporal dev server: no temporal on PATH that fits; the download is switched off; and no go on PATH. ${remedy}`,
      ),
    );
  });

  test('an address where nothing answers', async () => {
    server = await serveRelease({});
    env.COUNTERSIGN_TEMPORAL_DOWNLOAD = server.url;
    await server.close();
    await expect(find()).rejects.toMatchObject({
      message: expect.stringMatching(
        /; 127\.0\.0\.1:\d+ did not give it \(.*ECONNREFUSED.*\); and no go on PATH\. Install/,
      ),
    });
  });

  test('a Go that is too old', async () => {
    const complaint = 'go: go.mod requires go >= 1.26.4 (running go 1.22.2; GOTOOLCHAIN=local)';
    program(join(bin, 'go'), 'echo some/package >&2', `echo '${complaint}' >&2`, 'exit 1');
    await expect(find()).rejects.toMatchObject(
      unreachable(
        `No Temporal dev server: the download is switched off; and go could not build it: ${complaint}. ${remedy}`,
      ),
    );
    expect(cached()).toEqual([]);
  });

  test.each([
    ['is not there', (path: string) => path, /does not run \(.*ENOENT.*\)/],
    ['is another program', (path: string) => program(path, 'echo hello'), /is not the temporal CLI/],
    [
      'is too old',
      (path: string) => temporal(path, 'temporal version 0.1 (Server 1.20.0)'),
      /is too old \(Server 1\.20\.0; /,
    ],
  ])('a named binary that %s', async (_case, make, why) => {
    temporal(join(bin, 'temporal'));
    env.COUNTERSIGN_TEMPORAL_BINARY = make(join(folder, 'named'));
    const failure = (await find().catch((error: unknown) => error)) as Error;
    expect(failure.message).toMatch(why);
    expect(failure.message).toMatch(
      /^COUNTERSIGN_TEMPORAL_BINARY names .*named, which .*: point it at the temporal CLI or unset it\.$/,
    );
  });
});
