/** The worker of an example, in a process of its own, as its reader runs it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface ExampleWorker {
  /** `kill -9`, and waits until it is gone. */
  kill(): Promise<void>;
}

const live = new Set<ExampleWorker>();

/** Starts `examples/EXAMPLE/worker.ts` and waits until it says that it is ready. */
export async function startExampleWorker(example: string, env: Record<string, string>): Promise<ExampleWorker> {
  const script = fileURLToPath(new URL(`../../examples/${example}/worker.ts`, import.meta.url));
  const child = spawn(process.execPath, [script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let said = '';
  const gone = once(child, 'exit');
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => chunk.toString().includes('ready') && resolve());
    child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)));
    void gone.then(() => reject(new Error(`the worker of ${example} ended before it was ready: ${said}`)));
  });
  const worker: ExampleWorker = {
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
export async function killExampleWorkers(): Promise<void> {
  for (const worker of live) await worker.kill();
}
