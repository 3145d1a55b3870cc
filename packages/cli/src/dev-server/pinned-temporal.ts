import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The Go module that pins the dev server; the relative path is the same from `src` and from `dist`. */
const moduleFolder = join(import.meta.dirname, '..', '..', 'temporal');

/** The Temporal CLI that this version of the project pins, and where this machine keeps it. */
export interface PinnedTemporal {
  moduleFolder: string;
  /** Release of the CLI, such as `v1.8.2`. */
  version: string;
  /** Folder for exactly this release on exactly this platform. */
  cacheFolder: string;
  /** Absolute path of the binary, which may not exist yet. */
  binary: string;
}

/**
 * Reads the pinned version. The cache key includes a digest of go.mod and go.sum, so that a changed pin never finds an
 * old binary.
 */
export async function readPinnedTemporal(options: {
  env: NodeJS.ProcessEnv;
  cacheFolder?: string;
  moduleFolder?: string;
}): Promise<PinnedTemporal> {
  const folder = options.moduleFolder ?? moduleFolder;
  const goMod = await readFile(join(folder, 'go.mod'), 'utf8');
  const goSum = await readFile(join(folder, 'go.sum'), 'utf8');
  const version = /^\s*github\.com\/temporalio\/cli (v\S+)/m.exec(goMod)?.[1];
  if (version === undefined) throw new Error(`${join(folder, 'go.mod')} does not require github.com/temporalio/cli`);
  const key = createHash('sha256').update(goMod).update(goSum).digest('hex').slice(0, 16);
  const cacheFolder = join(
    options.cacheFolder ?? userCacheFolder(options.env),
    'temporal',
    `${version}-${process.platform}-${process.arch}-${key}`,
  );
  const binary = join(cacheFolder, process.platform === 'win32' ? 'temporal.exe' : 'temporal');
  return { moduleFolder: folder, version, cacheFolder, binary };
}

/** The user's cache folder for this project: `COUNTERSIGN_CACHE`, else the platform's convention. */
export function userCacheFolder(env: NodeJS.ProcessEnv): string {
  if (env.COUNTERSIGN_CACHE) return env.COUNTERSIGN_CACHE;
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'countersign');
  if (process.platform === 'win32') {
    return join(env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'countersign', 'cache');
  }
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'countersign');
}
