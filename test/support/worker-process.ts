/** Workers with the test agents in a process of their own, so that tests can kill them with SIGKILL. */
import { fileURLToPath } from 'node:url';
import type { ChannelSpec } from '../workflows/channels/channel-spec.ts';
import { type ReadyProcess, spawnReady } from './ready-process.ts';
import { testBundle } from './world.ts';

export interface WorkerProcessOptions {
  address: string;
  taskQueue: string;
  namespace?: string;
  folder: string;
  maxConcurrentActivityTaskExecutions?: number;
  maxCachedWorkflows?: number;
  /** Leaves activities to other workers, and keeps no run in its cache. */
  onlyWorkflows?: true;
  /** Uses the agents of `team` instead of `testAgent`. */
  team?: true;
  /** Uses those whose tools reconcile. */
  reconciling?: true;
  channel?: ChannelSpec;
  /** Its channel is that of `hangsAfterSending`, with this file. */
  hangsAfterSending?: string;
}

/** Starts a process with these workers and waits until they poll. */
export function spawnWorker(...workers: WorkerProcessOptions[]): Promise<ReadyProcess> {
  const script = fileURLToPath(new URL('./worker-process-main.ts', import.meta.url));
  return spawnReady('the worker process', script, {
    args: [testBundle(), ...workers.map((each) => JSON.stringify(each))],
  });
}
