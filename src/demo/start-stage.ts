import { rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../client/client.ts';
import type { CountersignClient } from '../client/countersign-client.ts';
import { findTemporal } from '../dev-server/find-temporal.ts';
import { startDevServer } from '../dev-server/start-dev-server.ts';
import { bundleWorkflows } from '../worker.ts';
import { type AgentWorker, startAgentWorker } from './agent-worker.ts';
import type { CleanUp } from './clean-up.ts';

/** The environment of the demo: its own server, a client, a folder, and workers. */
export interface Stage {
  address: string;
  uiUrl: string;
  /** Process id of the server. */
  pid: number;
  client: CountersignClient;
  /** The folder that the agent tidies. */
  folder: string;
  /** The log of the agent's tools, one line per action. */
  log: string;
  startWorker(): Promise<AgentWorker>;
}

export interface StageOptions {
  cleanUp: CleanUp;
  /** Aborts what is in flight, such as building the server. */
  signal: AbortSignal;
  /** Receives progress lines for a person while the server is downloaded or built. */
  progress: (line: string) => void;
  /** Receives the error if a worker ends by itself. */
  onWorkerEnd: (error: Error) => void;
}

export async function startStage({ cleanUp, signal, progress, onWorkerEnd }: StageOptions): Promise<Stage> {
  const home = await mkdtemp(join(tmpdir(), 'countersign-demo-'));
  cleanUp.add(() => rm(home, { recursive: true, force: true }));
  // Also if somebody does not wait for the orderly end.
  process.once('exit', () => rmSync(home, { recursive: true, force: true }));
  await hideOtherServers(home);
  const finding = findTemporal({ log: progress, signal });
  cleanUp.add(() => finding.catch(() => undefined));
  const binary = await finding;
  cleanUp.check();
  const starting = startDevServer({ binary });
  cleanUp.add(async () => (await starting).stop());
  // Bundled once, so that the second worker takes over without delay.
  const [{ address, uiUrl, pid }, { code }] = await Promise.all([starting, bundleWorkflows()]);
  // Never closed, because a call that is being retried would throw from a timer of the SDK. It ends with this process.
  const client = await createClient({ address });
  const folder = join(home, 'folder');
  const bundle = join(home, 'workflows.js');
  await writeFile(bundle, code);
  return {
    address,
    uiUrl: uiUrl ?? '',
    pid,
    client,
    folder,
    log: `${folder}.log`,
    startWorker: () => {
      cleanUp.check();
      return startAgentWorker({
        address,
        bundle,
        folder,
        onStart: (worker) => cleanUp.add(() => worker.stop()),
        onEnd: onWorkerEnd,
      });
    },
  };
}

/** Neither this process nor the worker may reach the cluster in the person's own environment. */
async function hideOtherServers(home: string): Promise<void> {
  for (const name of Object.keys(process.env)) if (name.startsWith('TEMPORAL_')) delete process.env[name];
  process.env.TEMPORAL_CONFIG_FILE = join(home, 'temporal.toml');
  await writeFile(process.env.TEMPORAL_CONFIG_FILE, '[profile.default]\n');
}
