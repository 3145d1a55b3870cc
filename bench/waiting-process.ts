import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Weight } from './waiting-worker.ts';

export interface WaitingProcess {
  weigh(): Promise<Weight>;
  /** `kill -9`; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** Starts `waiting-worker.ts` and waits until it polls. */
export async function spawnWaiting(options: {
  address: string;
  taskQueue: string;
  kind: 'ours' | 'bare';
  ranFile?: string;
  /** The bundle of this kind, from `bundleInto`. */
  codePath: string;
  /** Temporal's debug mode: workflows run in the main thread, where garbage can be collected before weighing. */
  inOneThread?: boolean;
}): Promise<WaitingProcess> {
  const script = fileURLToPath(new URL('./waiting-worker.ts', import.meta.url));
  const child = spawn(process.execPath, ['--expose-gc', script, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...(options.inOneThread === true ? { TEMPORAL_DEBUG: '1' } : {}) },
  });
  const gone = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the worker process ended');
    return value;
  };
  for (let line = await next(); line !== 'ready';) line = await next();
  return {
    weigh: async () => {
      child.stdin.write('weigh\n');
      return JSON.parse(await next()) as Weight;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
