import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDevServer, type DevServer } from '../../../packages/cli/src/dev-server/start-dev-server.ts';
import { openBoundaryStage } from '../../workflows/replay/boundary-stage.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { replayLines, replayServer, type ReplayBundle } from '../../support/replay-server.ts';
import { testBundle } from '../../support/world.ts';

/**
 * The replay of all histories at the end of a session can fail. Uses its own server instead of the shared one, because
 * one of its executions does not replay.
 */

installQuietRuntime();

const keepIn = mkdtempSync(join(tmpdir(), 'countersign-replays-'));
let bundle: ReplayBundle;
let server: DevServer;
let failing: string;

beforeAll(async () => {
  server = await startDevServer({ uiPort: null });
  const stage = await openBoundaryStage(server.address);
  bundle = { ...stage.workflowBundle, plugins: 'none' };
  const differs = await stage.start('differsOnReplay');
  failing = differs.workflowId;
  await differs.end();
  await (await stage.start('readsClock')).end();
  await stage.start('ignoresBoundaries');
  // The last test blocks this process, and a worker in it might not end afterwards.
  await stage.close();
});
afterAll(async () => {
  await server.stop();
  rmSync(keepIn, { recursive: true, force: true });
});

test('open and closed executions are replayed; one that does not replay is named, and its history is kept', async () => {
  const report = await replayServer({ address: server.address, bundles: [bundle], keepIn });
  const error = expect.stringMatching(/Nondeterminism error: .*timer/i) as unknown as string;
  expect(report).toMatchObject({ listed: 3, replayed: 2, skipped: {}, failed: [{ workflowId: failing, error }] });
  const [{ file, runId }] = report.failed as [(typeof report.failed)[0]];
  const { events } = JSON.parse(readFileSync(file, 'utf8')) as { events: object[] };
  expect(events[0]).toMatchObject({ workflowExecutionStartedEventAttributes: { originalExecutionRunId: runId } });
  expect(replayLines(report)[0]).toMatch(/^Histories: 3 read, 2 replayed, 1 failed, 0 skipped, [\d.]+ s\.$/);
});

test('executions of another bundle are skipped, and counted by workflow type', async () => {
  const { replayed, skipped } = await replayServer({ address: server.address, bundles: [], keepIn });
  expect(replayed).toBe(0);
  const types = ['differsOnReplay', 'ignoresBoundaries', 'readsClock'];
  expect(skipped).toEqual(
    Object.fromEntries(types.map((type) => [`made with a workflow bundle that is not given: ${type}`, 1])),
  );
});

test('a history that does not replay counts as a failed test', () => {
  const program = `
    const { replayTests } = await import(process.argv[1]);
    console.log(await replayTests(process.argv[2]));
  `;
  const module = pathToFileURL(join(import.meta.dirname, '..', '..', 'support', 'replay-tests.ts')).href;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program, module, keepIn], {
    encoding: 'utf8',
    env: { ...process.env, TEMPORAL_ADDRESS: server.address, COUNTERSIGN_TEST_BUNDLE: testBundle() },
  });
  expect(stderr).toContain(failing);
  expect(stderr).toContain('histories that tests made do not replay');
  expect(stdout).toBe('1\n');
  expect(readdirSync(keepIn)).toHaveLength(1);
});
