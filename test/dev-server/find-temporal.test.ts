import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findTemporal } from '../../packages/cli/src/dev-server/start-dev-server.ts';
import { pinnedTemporal } from '../../packages/cli/src/dev-server/pinned-temporal.ts';
import { BareMachine, usable } from './bare-machine.ts';
import { serveRelease, type ReleaseServer } from './serve-release.ts';

const remedy =
  'Install the temporal CLI (https://docs.temporal.io/cli), or set TEMPORAL_ADDRESS to a server that runs.';

let machine: BareMachine;
let lines: string[];
let server: ReleaseServer | undefined;
beforeEach(() => {
  machine = new BareMachine();
  lines = [];
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  machine.remove();
});

const find = (): Promise<string> => findTemporal({ env: machine.env, log: (line) => lines.push(line) });
const cacheFolder = (): string => pinnedTemporal(machine.env).cacheFolder;

describe('an existing binary is used, in this order', () => {
  test('the binary that the environment names', async () => {
    machine.temporal(join(machine.bin, 'temporal'));
    machine.env.COUNTERSIGN_TEMPORAL_BINARY = machine.temporal(join(machine.folder, 'mine'));
    expect(await find()).toBe(join(machine.folder, 'mine'));
  });

  test('temporal on PATH, without touching cache and network', async () => {
    server = await serveRelease({});
    machine.env.COUNTERSIGN_TEMPORAL_DOWNLOAD = server.url;
    machine.temporal(join(machine.bin, 'temporal'));
    expect(await find()).toBe(join(machine.bin, 'temporal'));
    expect([server.requests, machine.cached(), lines]).toEqual([[], [], []]);
  });

  test.each([
    ['temporal version 0.13.2 (Server 1.24.2, UI 2.28.0)', 'is too old (Server 1.24.2; 1.28 or newer is needed)'],
    ['temporal version 0.9.0 (Server 0.31.0, UI 2.28.0)', 'is too old (Server 0.31.0; 1.28 or newer is needed)'],
    ['something else 2.0', 'is not the temporal CLI'],
  ])('not a temporal on PATH that prints "%s"', async (version, why) => {
    machine.temporal(join(machine.bin, 'temporal'), version);
    await expect(find()).rejects.toMatchObject({ code: 'server_unreachable' });
    expect(lines[0]).toBe(`Skipping ${join(machine.bin, 'temporal')}, which ${why}.`);
  });

  test('the cache: what a clone has built, or an earlier download', async () => {
    mkdirSync(cacheFolder(), { recursive: true });
    const built = machine.temporal(join(cacheFolder(), 'temporal'));
    server = await serveRelease({});
    machine.env.COUNTERSIGN_TEMPORAL_DOWNLOAD = server.url;
    expect(await find()).toBe(built);
    expect([server.requests, lines]).toEqual([[], []]);
  });
});

describe('the download', () => {
  beforeEach(() => {
    for (const tool of ['tar', 'gzip']) machine.link(tool);
  });

  test('fetches the pinned release once and keeps it', async () => {
    server = await serveRelease({ content: `#!/bin/sh\necho '${usable}'\n` });
    machine.env.COUNTERSIGN_TEMPORAL_DOWNLOAD = server.url;
    const first = await find();
    const asked = server.requests;
    expect(asked[0]).toMatch(/^\/v\d+\.\d+\.\d+\?arch=\w+&platform=\w+$/);
    expect(await find()).toBe(first);
    expect(asked).toHaveLength(2);
    expect(machine.cached()).toEqual(['temporal']);
  });

  test.each([
    ['says no', { status: 503 }, 'status 503'],
    ['answers something else', { answer: '[]' }, 'an unexpected answer'],
    ['answers no JSON', { answer: '<html>' }, /JSON/],
    ['names a file elsewhere', { file: '../temporal' }, 'an archive of another shape'],
    ['names an option of tar', { file: '--to-command=sh' }, 'an archive of another shape'],
    ['sends no archive', { archive: Buffer.from('no archive') }, /tar/],
    ['breaks off', { breaksOff: true }, /terminated|aborted|closed/],
  ])('that %s leaves nothing', async (_case, release, why) => {
    server = await serveRelease(release);
    machine.env.COUNTERSIGN_TEMPORAL_DOWNLOAD = server.url;
    const { message } = (await find().catch((error: unknown) => error)) as Error;
    const reason = /, and 127\.0\.0\.1:\d+ did not give it \((.*)\)\. Install/.exec(message)?.[1];
    expect(reason).toMatch(why);
    expect(machine.cached()).toEqual([]);
  });

  test('is shared by two concurrent callers', async () => {
    server = await serveRelease({ content: `#!/bin/sh\necho '${usable}'\n` });
    machine.env.COUNTERSIGN_TEMPORAL_DOWNLOAD = server.url;
    const [one, two] = await Promise.all([find(), find()]);
    expect(one).toBe(two);
    expect(server.requests).toHaveLength(2);
  });

  test('that sends another program is skipped', async () => {
    server = await serveRelease({ content: '#!/bin/sh\necho hello\n' });
    machine.env.COUNTERSIGN_TEMPORAL_DOWNLOAD = server.url;
    await expect(find()).rejects.toMatchObject({
      message: expect.stringContaining('the downloaded file is not the temporal CLI. Install'),
    });
    expect(machine.cached()).toEqual([]);
  });
});

describe('if nothing is available, one sentence says what to install', () => {
  const unreachable = (message: string): object => ({ code: 'server_unreachable', message });

  test('no temporal and no network', async () => {
    await expect(find()).rejects.toMatchObject(
      unreachable(`No Temporal dev server: no temporal on PATH that fits, and the download is switched off. ${remedy}`),
    );
  });

  test('an address where nothing answers', async () => {
    server = await serveRelease({});
    machine.env.COUNTERSIGN_TEMPORAL_DOWNLOAD = server.url;
    await server.close();
    await expect(find()).rejects.toMatchObject({
      message: expect.stringMatching(/, and 127\.0\.0\.1:\d+ did not give it \(.*ECONNREFUSED.*\)\. Install/),
    });
  });

  test.each([
    ['is not there', (path: string) => path, /does not run \(.*ENOENT.*\)/],
    ['is another program', (path: string) => machine.program(path, 'echo hello'), /is not the temporal CLI/],
    [
      'is too old',
      (path: string) => machine.temporal(path, 'temporal version 0.1 (Server 1.20.0)'),
      /is too old \(Server 1\.20\.0; /,
    ],
  ])('a named binary that %s', async (_case, make, why) => {
    machine.temporal(join(machine.bin, 'temporal'));
    machine.env.COUNTERSIGN_TEMPORAL_BINARY = make(join(machine.folder, 'named'));
    const failure = (await find().catch((error: unknown) => error)) as Error;
    expect(failure.message).toMatch(why);
    expect(failure.message).toMatch(
      /^COUNTERSIGN_TEMPORAL_BINARY names .*named, which .*: point it at the temporal CLI or unset it\.$/,
    );
  });
});
