/** A worker of the test agents in a process of its own, so that tests can kill it the hard way. */
import { fileURLToPath } from 'node:url';
import { type ReadyProcess, spawnReady } from './ready-process.ts';
import { testBundle } from './world.ts';

export interface WorkerProcessOptions {
  address: string;
  taskQueue: string;
  folder: string;
  maxConcurrentActivityTaskExecutions?: number;
  /** The agents of `team`, not `testAgent` alone. */
  team?: true;
}

/** Starts a worker process and waits until it polls. */
export function spawnWorker(options: WorkerProcessOptions): Promise<ReadyProcess> {
  const script = fileURLToPath(new URL('./worker-process-main.ts', import.meta.url));
  const argument = JSON.stringify({ ...options, bundle: testBundle() });
  return spawnReady('the worker process', script, { args: [argument] });
}
