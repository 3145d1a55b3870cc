import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { link, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const touchIntervalMs = 5_000;
const staleAfterMs = 30_000;
const pollIntervalMs = 500;

/**
 * Runs `work` while it holds the lock file `path`. If another process holds it, calls `onWait` once with the id of that
 * process, and waits. A lock counts as left behind if its file was not touched for 30 s or, on this machine, if its
 * process is dead. Two waiters may both remove such a lock and proceed, so the lock only saves duplicate work.
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
    if (holder.dead) {
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

/** The process that holds the lock; undefined if none does any more. `dead`: it has left the lock behind. */
async function holderOf(path: string): Promise<{ processId: string; dead: boolean } | undefined> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    const [processId = '', host = ''] = text.split(' ');
    const untouched = Date.now() - mtimeMs > staleAfterMs;
    return { processId, dead: untouched || (host === hostname() && !isAlive(Number(processId))) };
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
  // If the lock file was removed while `work` runs, the worst result is a duplicate build.
  await utimes(path, now, now).catch(() => undefined);
}
