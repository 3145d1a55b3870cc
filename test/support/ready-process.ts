import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface ReadyProcess {
  pid: number;
  /** `kill -9`; resolves when the process is gone. */
  kill(): Promise<void>;
}

const live = new Set<ReadyProcess>();

/** Starts a Node script in its own process and waits until it prints `ready`. `what` names it in errors. */
export async function spawnReady(
  what: string,
  script: string,
  { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {},
): Promise<ReadyProcess> {
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-4_000)));
  const gone = once(child, 'exit');
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => chunk.toString().includes('ready') && resolve());
    void gone.then(() => reject(new Error(`${what} ended before it was ready: ${errors}`)));
  });
  const started: ReadyProcess = {
    pid: child.pid!,
    kill: async () => {
      live.delete(started);
      child.kill('SIGKILL');
      await gone;
    },
  };
  live.add(started);
  await ready;
  return started;
}

/** Call at the end of a test file, whatever its result. */
export async function killAll(): Promise<void> {
  for (const each of live) await each.kill();
}
