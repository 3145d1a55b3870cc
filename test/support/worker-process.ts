/**
 * A worker in a process of its own, so that tests can kill it the hard way. Executed, it is that worker; imported,
 * `spawnWorker` starts one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { testBundle } from './world.ts';

export interface WorkerProcess {
  pid: number;
  /** `kill -9`, and waits until it is gone. */
  kill(): Promise<void>;
}

export interface WorkerProcessOptions {
  address: string;
  taskQueue: string;
  folder: string;
  maxConcurrentActivities?: number;
  /** The agents of `team`, not `testAgent` alone. */
  team?: true;
}

const live = new Set<WorkerProcess>();

/** Starts a worker process and waits until it polls. */
export async function spawnWorker(options: WorkerProcessOptions): Promise<WorkerProcess> {
  const script = fileURLToPath(new URL('./worker-process-main.ts', import.meta.url));
  const argument = JSON.stringify({ ...options, bundle: testBundle() });
  const child = spawn(process.execPath, [script, argument], { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-4_000)));
  const gone = once(child, 'exit');
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => chunk.toString().includes('ready') && resolve());
    void gone.then(() => reject(new Error(`the worker process ended before it was ready: ${errors}`)));
  });
  const worker: WorkerProcess = {
    pid: child.pid!,
    kill: async () => {
      live.delete(worker);
      child.kill('SIGKILL');
      await gone;
    },
  };
  live.add(worker);
  await ready;
  return worker;
}

/** For the end of a test file, whatever happened in it. */
export async function killWorkers(): Promise<void> {
  for (const worker of live) await worker.kill();
}
