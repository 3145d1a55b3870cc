import { lstat } from 'node:fs/promises';
import { isAbsolute, join, normalize, sep } from 'node:path';

/**
 * Resolves a path from a model to the path of a file inside `folder`. Throws one sentence for an absolute path, for one
 * that leads out by `..`, for the folder itself, and for one that passes through or ends in a symbolic link, whatever
 * its target. The file need not exist. Does not protect against another process that replaces a folder with a link
 * between this check and the use of the path.
 */
export async function insideFolder(folder: string, path: string): Promise<string> {
  if (path.includes('\0')) throw new Error('a path cannot hold a NUL character');
  const parts = normalize(path)
    .split(sep)
    .filter((part) => part !== '' && part !== '.');
  if (isAbsolute(path) || parts.includes('..'))
    throw new Error(`'${path}' leads out of the folder: write a path inside it`);
  if (parts.length === 0) throw new Error(`'${path}' is the folder itself: name a file in it`);
  let place = folder;
  for (const part of parts) {
    place = join(place, part);
    if (await isLink(place)) throw new Error(`'${path}' passes through a symbolic link, which is not followed here`);
  }
  return place;
}

async function isLink(place: string): Promise<boolean> {
  try {
    return (await lstat(place)).isSymbolicLink();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // If a folder on the path does not exist, nothing below it exists either.
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw error;
  }
}
