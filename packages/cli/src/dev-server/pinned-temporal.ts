import { homedir } from 'node:os';
import { join } from 'node:path';

/** The release of the Temporal CLI that this version of the project pins. */
export const temporalVersion = 'v1.8.2';
/** A digest of the modules from which a clone builds it (tools/temporal), so that a changed pin never finds an old binary. */
export const temporalPin = 'f21d35f6ae585038';

/** Where this machine keeps the pinned Temporal CLI. */
export interface PinnedTemporal {
  /** Folder for exactly this release on exactly this platform. */
  cacheFolder: string;
  /** Absolute path of the binary, which may not exist yet. */
  binary: string;
}

export function pinnedTemporal(env: NodeJS.ProcessEnv): PinnedTemporal {
  const release = `${temporalVersion}-${process.platform}-${process.arch}-${temporalPin}`;
  const cacheFolder = join(userCacheFolder(env), 'temporal', release);
  const binary = join(cacheFolder, process.platform === 'win32' ? 'temporal.exe' : 'temporal');
  return { cacheFolder, binary };
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
