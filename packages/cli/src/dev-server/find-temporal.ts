import { access, constants, mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { withFileLock } from 'countersign/adapter';
import { ProblemError } from 'countersign/base';
import { buildTemporal } from './build-temporal.ts';
import { downloadTemporal } from './download-temporal.ts';
import { readPinnedTemporal } from './pinned-temporal.ts';
import { checkTemporal } from './temporal-version.ts';

export interface FindTemporalOptions {
  /** Default: the environment of this process. It supplies `PATH` and the `COUNTERSIGN_…` variables. */
  env?: NodeJS.ProcessEnv;
  /** Default: the user's cache folder for this project. */
  cacheFolder?: string;
  /**
   * Receives progress lines for a person: what is skipped and why, and how long the build has taken. Default: silent.
   */
  log?: (line: string) => void;
  /** Aborts a download or a build. */
  signal?: AbortSignal;
}

const remedy =
  'Install the temporal CLI (https://docs.temporal.io/cli) or Go 1.26 or newer (https://go.dev/dl), ' +
  'or set TEMPORAL_ADDRESS to a server that runs.';

/**
 * Finds a Temporal CLI with a dev server and returns its absolute path: `COUNTERSIGN_TEMPORAL_BINARY`, else `temporal`
 * on PATH, else the cache, else the SDKs' download, else a build with Go. The cache keeps downloads and builds. Throws
 * `server_unreachable` with what to install.
 */
export async function findTemporal(options: FindTemporalOptions = {}): Promise<string> {
  const { env = process.env, log = () => undefined, signal } = options;
  if (env.COUNTERSIGN_TEMPORAL_BINARY) return namedBinary(env.COUNTERSIGN_TEMPORAL_BINARY, env);
  const onPath = await findOnPath('temporal', env);
  if (onPath !== undefined) {
    const check = await checkTemporal(onPath, env);
    if (check.usable) return onPath;
    log(`Skipping ${onPath}, which ${check.reason}.`);
  }
  const pinned = await readPinnedTemporal({ env, cacheFolder: options.cacheFolder });
  const { binary, cacheFolder } = pinned;
  if ((await checkTemporal(binary, env)).usable) return binary;
  await mkdir(cacheFolder, { recursive: true });
  const onWait = (holder: string): void =>
    log(`Waiting for process ${holder}, which is getting the Temporal dev server: 5 to 15 minutes if it builds it.`);
  return withFileLock(join(cacheFolder, 'lock'), { onWait, signal }, async () => {
    if ((await checkTemporal(binary, env)).usable) return binary;
    const download = await downloadTemporal(pinned, { env, log, signal });
    if (download.downloaded) return binary;
    const go = await findOnPath('go', env);
    if (go === undefined) throw notFound(`no temporal on PATH that fits; ${download.reason}; and no go on PATH`);
    log(`No temporal on PATH, and ${download.reason}: building it with Go.`);
    const build = await buildTemporal(pinned, { go, env, log, signal });
    if (!build.built) throw notFound(`${download.reason}; and go could not build it: ${build.reason}`);
    return binary;
  });
}

function notFound(why: string): ProblemError {
  return new ProblemError({ code: 'server_unreachable', message: `No Temporal dev server: ${why}. ${remedy}` });
}

async function namedBinary(path: string, env: NodeJS.ProcessEnv): Promise<string> {
  const check = await checkTemporal(path, env);
  if (check.usable) return path;
  throw new ProblemError({
    code: 'server_unreachable',
    message: `COUNTERSIGN_TEMPORAL_BINARY names ${path}, which ${check.reason}: point it at the temporal CLI or unset it.`,
  });
}

async function findOnPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const file = process.platform === 'win32' ? `${name}.exe` : name;
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (folder === '') continue;
    const path = join(folder, file);
    const executable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable) return path;
  }
  return undefined;
}
