/** Starts child processes that never outlive this one, even if it is killed with `kill -9`. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';

/** A child with piped standard output and error, in its own process group. */
export type BoundChild = ChildProcessByStdio<null, Readable, Readable>;

/** A shell script that waits until its input closes, as happens however this process ends, and then ends the group. */
const watchdogScript = `read _
kill -s TERM -- "-$1" 2>/dev/null
tries=0
while kill -s 0 -- "-$1" 2>/dev/null && [ "$tries" -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
kill -s KILL -- "-$1" 2>/dev/null`;

const living = new Set<BoundChild>();

/** Starts `command` in its own process group, which Ctrl-C does not reach. With `messages`, both sides can `send`. */
export function spawnBound(
  command: string,
  args: string[],
  { messages = false, ...options }: { cwd?: string; env?: NodeJS.ProcessEnv; messages?: boolean },
): BoundChild {
  const child = spawn(command, args, {
    ...options,
    detached: hasGroups,
    stdio: ['ignore', 'pipe', 'pipe', ...(messages ? (['ipc'] as const) : [])],
  }) as BoundChild;
  if (child.pid === undefined) return child; // it did not start, as its event `error` will say
  const release = watch(child.pid);
  if (living.size === 0) process.on('exit', killAll);
  living.add(child);
  child.once('exit', () => {
    release();
    living.delete(child);
    if (living.size === 0) process.off('exit', killAll);
  });
  return child;
}

/** Sends `signal` to the child and its descendants. Does nothing if the child has ended. */
export function signalGroup(child: BoundChild, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    if (hasGroups) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch (error) {
    // The group ended between the check and the signal.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** False on Windows, which has neither process groups nor a shell for the watchdog: only `killAll` works there. */
const hasGroups = process.platform !== 'win32';

/** Starts the watchdog for the group of `pid`. Returns a function that ends the watchdog. */
function watch(pid: number): () => void {
  if (!hasGroups) return () => undefined;
  const watchdog = spawn('/bin/sh', ['-c', watchdogScript, 'sh', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // If the shell does not start, only `killAll` ends the child, and after `kill -9` of this process nothing does.
  watchdog.on('error', () => undefined);
  watchdog.unref();
  (watchdog.stdin as unknown as { unref(): void }).unref();
  return () => watchdog.kill('SIGKILL');
}

function killAll(): void {
  for (const child of living) signalGroup(child, 'SIGKILL');
}
