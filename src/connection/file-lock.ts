import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { link, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const touchIntervalMs = 5_000;
const staleAfterMs = 30_000;
const pollIntervalMs = 500;

/**
 * Runs `work` while this process has the lock file `path`. While another process has it, waits, and calls `onWait` once
 * with that process's id. Removes a lock that was left behind: its process on this machine is dead, or has not touched
 * the file for 30 s. Two waiting processes may both do so and then work at once: the lock only saves duplicate work.
 */
export async function withFileLock<T>(
  path: string,
  options: { onWait: (holder: string) => void; signal?: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  let hasNotified = false;
  while (!(await tryCreate(path))) {
    const holder = await holderOf(path);
    if (holder === undefined) continue;
    if (holder.isGone) {
      await rm(path, { force: true });
      continue;
    }
    if (!hasNotified) options.onWait(holder.processId);
    hasNotified = true;
    await sleep(pollIntervalMs, undefined, { signal: options.signal });
  }
  const touching = setInterval(() => void touch(path), touchIntervalMs);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    await rm(path, { force: true });
  }
}

/** Creates the lock file together with its content, so that no waiter reads a lock without a holder. */
async function tryCreate(path: string): Promise<boolean> {
  const complete = `${path}-${randomUUID()}`;
  try {
    await writeFile(complete, `${process.pid} ${hostname()}`);
    await link(complete, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(complete, { force: true });
  }
}

/** Reads which process made the lock file; undefined without a file. `isGone`: the process has left the lock behind. */
async function holderOf(path: string): Promise<{ processId: string; isGone: boolean } | undefined> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    const [processId = '', host = ''] = text.split(' ');
    const isStale = Date.now() - mtimeMs > staleAfterMs;
    return { processId, isGone: isStale || (host === hostname() && !isAlive(Number(processId))) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isAlive(processId: number): boolean {
  try {
    // Signal 0 only checks whether the process exists. EPERM: it exists, and another user owns it.
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  // If another process has removed the file, `work` goes on: at worst, both do the same work.
  await utimes(path, now, now).catch(() => undefined);
}
