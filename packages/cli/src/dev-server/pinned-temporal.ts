import { homedir } from 'node:os';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The release of the Temporal CLI that this version of the project pins. */
export const temporalVersion = 'v1.8.2';
/**
 * A digest of the modules from which a clone builds it (tools/temporal), so that a changed pin never finds an old
 * binary.
 */
export const temporalPin = 'f21d35f6ae585038';

/** The paths of the pinned Temporal CLI in the user's cache. */
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

const run = promisify(execFile);
const versionTimeoutMs = 20_000;

/** The oldest server to which this project's tests still apply: three minor versions below the pinned one. */
const oldestServer = { major: 1, minor: 28 };

/** Says whether a binary is a Temporal CLI with a suitable server; `reason` continues a sentence after "…, which". */
export type Usability = { usable: true; version: string } | { usable: false; reason: string };

/** Runs `binary --version` and checks the output. Never throws. */
export async function checkTemporal(binary: string, env: NodeJS.ProcessEnv): Promise<Usability> {
  let output: string;
  try {
    output = (await run(binary, ['--version'], { env, timeout: versionTimeoutMs })).stdout.trim();
  } catch (error) {
    return { usable: false, reason: `does not run (${reasonOf(error)})` };
  }
  const server = /Server (\d+)\.(\d+)\.(\d+)/.exec(output);
  if (server === null) return { usable: false, reason: 'is not the temporal CLI' };
  const [major, minor] = [Number(server[1]), Number(server[2])];
  const { major: oldMajor, minor: oldMinor } = oldestServer;
  if (major < oldMajor || (major === oldMajor && minor < oldMinor)) {
    return { usable: false, reason: `is too old (${server[0]}; ${oldMajor}.${oldMinor} or newer is needed)` };
  }
  return { usable: true, version: output };
}

/**
 * The reason of a failure in one line. If an error has a cause (as from `fetch`), the cause gives the reason. Checks
 * shapes, not classes: in some runners, errors of Node's own modules come from another realm.
 */
export function reasonOf(error: unknown): string {
  const { message, cause } = Object(error) as { message?: unknown; cause?: unknown };
  if (cause !== undefined) return reasonOf(cause);
  return String(message ?? error).split('\n', 1)[0] ?? '';
}
