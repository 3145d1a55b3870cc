import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDevServer } from '../../packages/cli/src/dev-server/start-dev-server.ts';
import { builtInbox } from '../../packages/gateway/src/http/inbox/built-inbox.ts';
import { temporalOfClone } from '../../tools/temporal/temporal-of-clone.ts';
import { bundleWorkflows } from '../../src/worker.ts';

let world: Promise<() => Promise<void>> | undefined;

/** Each project of tests that need a server calls this: the first call starts what they share, the first end ends it. */
export default async function globalSetup(): Promise<() => Promise<void>> {
  world ??= start();
  const end = await world;
  return async () => {
    const isRunning = world !== undefined;
    world = undefined;
    if (isRunning) await end();
  };
}

/**
 * Starts one real Temporal server and makes one workflow bundle for all test files. It removes the user's own cluster
 * settings from the environment, so that no test can reach that cluster. Returns what ends the server.
 */
async function start(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-shared-'));
  for (const name of Object.keys(process.env)) if (name.startsWith('TEMPORAL_')) delete process.env[name];
  process.env.TEMPORAL_CONFIG_FILE = join(folder, 'temporal.toml');
  writeFileSync(process.env.TEMPORAL_CONFIG_FILE, '[profile.default]\n');
  // Also for the process that replays the encrypted histories.
  process.env.COUNTERSIGN_KEYS = `k1:${randomBytes(32).toString('base64')}`;
  // A command connects while its process still loads the SDK, which takes long on a busy machine.
  process.env.COUNTERSIGN_CONNECT_TIMEOUT = '60s';
  // Node strips and compiles the modules of child processes once, not in each of them.
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compile-cache');
  process.env.COUNTERSIGN_TEST_BUNDLES = mkdtempSync(join(folder, 'bundles-'));
  const preloads = ['stored-bundles', 'limit-processor-time'].map(
    (name) => `--import=${new URL(`./${name}.ts`, import.meta.url).href}`,
  );
  process.env.NODE_OPTIONS = [process.env.NODE_OPTIONS ?? '', ...preloads].join(' ').trim();
  // The server's heap is small: it collects its garbage less often, which takes a part of its processor time.
  process.env.GOGC ??= '200';
  const log = (line: string): unknown => process.stderr.write(`${line}\n`);
  const server = await startDevServer({ binary: await temporalOfClone({ log }), log });
  process.env.TEMPORAL_ADDRESS = server.address;
  process.env.COUNTERSIGN_TEST_TEMPORAL_UI = server.uiUrl!;
  // Tests that start their own servers need not search for the binary again.
  process.env.COUNTERSIGN_TEMPORAL_BINARY = server.binary;
  process.env.COUNTERSIGN_TEST_BUNDLE = join(folder, 'workflows.js');
  writeFileSync(process.env.COUNTERSIGN_TEST_BUNDLE, (await bundleWorkflows()).code);
  await builtInbox(log);
  return async () => {
    await server.stop();
    // A child that was killed may still write there.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
