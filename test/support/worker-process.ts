/** A worker with the test agents in its own process, so that tests can kill it with SIGKILL. */
import { fileURLToPath } from 'node:url';
import type { ChannelSpec } from './channel-spec.ts';
import { type ReadyProcess, spawnReady } from './ready-process.ts';
import { testBundle } from './world.ts';

export interface WorkerProcessOptions {
  address: string;
  taskQueue: string;
  folder: string;
  maxConcurrentActivityTaskExecutions?: number;
  /** Uses the agents of `team` instead of `testAgent`. */
  team?: true;
  channel?: ChannelSpec;
  /** The worker hangs after its channel has sent a message, and writes a line to this file. */
  lostAfterSending?: string;
}

/** Starts a worker process and waits until it polls. */
export function spawnWorker(options: WorkerProcessOptions): Promise<ReadyProcess> {
  const script = fileURLToPath(new URL('./worker-process-main.ts', import.meta.url));
  const argument = JSON.stringify({ ...options, bundle: testBundle() });
  return spawnReady('the worker process', script, { args: [argument] });
}
