import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { unfinishedEnd } from './payload-files.ts';

/** The counts of files of a payload folder that were deleted and kept. */
export interface Cleaned {
  /** Old enough files that no history names, and their bytes; a dry run only counts them. */
  removed: number;
  removedBytes: number;
  /** Files that stay, because a history names them or because they are too young. */
  kept: number;
}

const nameShape = /^[0-9a-f]{64}$/;
const removedEnd = '.removed';

/**
 * Removes payload files that `isNamed` does not know and that were last written before `beforeMs`, and unfinished files
 * of crashes. A file written during the reading of histories would seem unnamed; its age protects it here. With
 * `dryRun` nothing is removed, only counted.
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
  const found = await stat(place).catch(() => undefined);
  return found !== undefined && found.mtimeMs < beforeMs ? found.size : undefined;
}

/** Removes a file if it is old. Renames it before it checks the age: a file that a writer has renewed is put back. */
async function removeIfOld(place: string, beforeMs: number): Promise<boolean> {
  const aside = `${place}${removedEnd}`;
  await rename(place, aside);
  if ((await bytesIfOld(aside, beforeMs)) === undefined) {
    await rename(aside, place);
    return false;
  }
  await rm(aside);
  return true;
}
