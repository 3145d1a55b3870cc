/**
 * Files that are named by the SHA-256 of their content. Writing is atomic even if the machine crashes, and reading
 * verifies the name. Errors of the file system are thrown as Node throws them.
 */
import { createHash, randomBytes, randomUUID, createHmac, timingSafeEqual } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rename, rm, stat, utimes, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The most bytes of a file. The payloads of a run are smaller, by the limits in `core/base/size-limits.ts`. */
export const maxFileBytes = 128 * 1024 * 1024;
/** The end of an unfinished file's name. A crash leaves such a file behind. */
const unfinishedEnd = '.unfinished';

/** The milliseconds between attempts to read: on a network drive, other machines may see a new file later. */
const waitsMs = [50, 200, 750];

/** Returns the path of a file, in a folder of the name's first two digits, so that no folder has too many files. */
export function fileOf(folder: string, name: string): string {
  return join(folder, name.slice(0, 2), name);
}

/** Writes `content` to a file and returns the file's name. If the file exists undamaged, only renews its time. */
export async function keepFile(folder: string, content: Uint8Array): Promise<string> {
  const name = contentName(content);
  const place = fileOf(folder, name);
  if (await isUndamaged(place, name)) {
    // `cleanFolder` removes old files. With a new time, it does not remove this one before history names it again.
    const now = new Date();
    await utimes(place, now, now);
    return name;
  }
  await mkdir(dirname(place), { recursive: true, mode: 0o700 });
  const unfinished = `${place}.${randomBytes(6).toString('hex')}${unfinishedEnd}`;
  try {
    await writeThrough(unfinished, content);
    await rename(unfinished, place);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  // The caller sends the reference to the server next, so from here on the file must survive a power failure.
  await syncFolder(dirname(place));
  await syncFolder(folder);
  return name;
}

async function isUndamaged(place: string, name: string): Promise<boolean> {
  const content = await readFile(place).catch(() => undefined);
  return content !== undefined && contentName(content) === name;
}

/** Returns the content of a file; `damaged` if its digest is not its name; `missing` if no file appears in a second. */
export async function readKept(
  folder: string,
  name: string,
  signal?: AbortSignal,
): Promise<Uint8Array | 'missing' | 'damaged'> {
  const place = fileOf(folder, name);
  for (let attempt = 0; ; attempt++) {
    try {
      if ((await stat(place)).size > maxFileBytes) return 'damaged';
      const content = await readFile(place, { signal });
      return contentName(content) === name ? content : 'damaged';
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    const waitMs = waitsMs[attempt];
    if (waitMs === undefined) return 'missing';
    await sleep(waitMs, undefined, { signal });
  }
}

function contentName(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

async function writeThrough(path: string, content: Uint8Array): Promise<void> {
  await withFile(await open(path, 'wx', 0o600), async (file) => {
    await file.writeFile(content);
    await file.sync();
  });
}

async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return; // Windows cannot open a folder
  await withFile(await open(path, 'r'), (file) => file.sync());
}

async function withFile(file: FileHandle, use: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await use(file);
  } finally {
    await file.close();
  }
}

/** A reference in history to a payload file. Both values are 64 lower-case hex digits. */
interface Claim {
  /** The SHA-256 of the file's content, which is also the file's name. */
  sha256: string;
  /** A proof that the writer of this reference has the folder's key. */
  proof: string;
}

const shape = /^[0-9a-f]{64}$/;

export function claimOf(key: Buffer, sha256: string): Claim {
  return { sha256, proof: proofOf(key, sha256) };
}

/**
 * Returns the file name in a claim; undefined if its writer did not have the key. Everyone who may signal a run can
 * send a reference, and a forged one must not make the run wait for a file that never comes.
 */
export function fileNameIn(key: Buffer, claim: Readonly<Record<string, unknown>>): string | undefined {
  const { sha256, proof } = claim;
  if (typeof sha256 !== 'string' || typeof proof !== 'string' || !shape.test(sha256) || !shape.test(proof)) {
    return undefined;
  }
  return timingSafeEqual(Buffer.from(proof), Buffer.from(proofOf(key, sha256))) ? sha256 : undefined;
}

function proofOf(key: Buffer, sha256: string): string {
  return createHmac('sha256', key).update(sha256).digest('hex');
}

/** The numbers of deleted and kept files of a payload folder. */
export interface Cleaned {
  /** The old files that no history names, and their bytes. A dry run only counts them. */
  removed: number;
  removedBytes: number;
  /** The files that stay, because a history names them or because they are too young. */
  kept: number;
}

const nameShape = /^[0-9a-f]{64}$/;
const removedEnd = '.removed';

/**
 * Removes old files that no history names: payload files and unfinished ones, last written before `beforeMs`. Younger
 * files stay, because the caller may have read the histories before one of them named the file.
 */
export async function cleanFolder(
  path: string,
  isNamed: (name: string) => boolean,
  { beforeMs, dryRun = false }: { beforeMs: number; dryRun?: boolean },
): Promise<Cleaned> {
  const cleaned: Cleaned = { removed: 0, removedBytes: 0, kept: 0 };
  for (const file of await readdir(path, { recursive: true, withFileTypes: true })) {
    const isUnfinished = file.name.endsWith(unfinishedEnd) || file.name.endsWith(removedEnd);
    if (!file.isFile() || !(nameShape.test(file.name) || isUnfinished)) continue;
    const place = join(file.parentPath, file.name);
    const bytes = isNamed(file.name) ? undefined : await bytesIfOld(place, beforeMs);
    if (bytes !== undefined && (dryRun || (await removeIfOld(place, beforeMs)))) {
      cleaned.removed += 1;
      cleaned.removedBytes += bytes;
    } else cleaned.kept += 1;
  }
  return cleaned;
}

async function bytesIfOld(place: string, beforeMs: number): Promise<number | undefined> {
  const file = await stat(place).catch(() => undefined);
  return file !== undefined && file.mtimeMs < beforeMs ? file.size : undefined;
}

/**
 * Renames a file, so that no writer renews its time any more. Then removes it or, if it is not old, puts it back. The
 * name is new each time: two processes that clean at once must not remove what the other one has put aside.
 */
async function removeIfOld(place: string, beforeMs: number): Promise<boolean> {
  const aside = `${place}.${randomUUID()}${removedEnd}`;
  try {
    await rename(place, aside);
  } catch (error) {
    // Another process that cleans the folder has removed the file meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  if ((await bytesIfOld(aside, beforeMs)) === undefined) {
    await rename(aside, place);
    return false;
  }
  await rm(aside);
  return true;
}
