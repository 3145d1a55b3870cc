import { access, constants, mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { withFileLock } from 'countersign/adapter';
import { ProblemError } from 'countersign/base';
import { downloadTemporal } from './download-temporal.ts';
import { type PinnedTemporal, pinnedTemporal, checkTemporal } from './pinned-temporal.ts';

export interface FindTemporalOptions {
  /** Default: the environment of this process. It supplies `PATH` and the `COUNTERSIGN_…` variables. */
  env?: NodeJS.ProcessEnv;
  /** Receives progress lines: skipped binaries with the reason, and the download. Default: silent. */
  log?: (line: string) => void;
  /** Aborts a download. */
  signal?: AbortSignal;
  /**
   * Called if all other sources fail, while no other process gets the server: puts the binary into its place, or
   * returns why it cannot. `why`: why there is none. Default: none, because only a clone can build the server.
   */
  build?: (pinned: PinnedTemporal, why: string) => Promise<string | undefined>;
}

const remedy =
  'Install the temporal CLI (https://docs.temporal.io/cli), or set TEMPORAL_ADDRESS to a server that runs.';

/**
 * Finds a Temporal CLI with a dev server and returns its absolute path: `COUNTERSIGN_TEMPORAL_BINARY`, else `temporal`
 * on PATH, else the cache, else the SDKs' download, which the cache keeps. Throws `server_unreachable` with
 * installation advice.
 */
export async function findTemporal(options: FindTemporalOptions = {}): Promise<string> {
  const { env = process.env, log = () => undefined, signal, build } = options;
  if (env.COUNTERSIGN_TEMPORAL_BINARY) return namedBinary(env.COUNTERSIGN_TEMPORAL_BINARY, env);
  const onPath = await findOnPath('temporal', env);
  if (onPath !== undefined) {
    const check = await checkTemporal(onPath, env);
    if (check.usable) return onPath;
    log(`Skipping ${onPath}, which ${check.reason}.`);
  }
  const pinned = pinnedTemporal(env);
  const { binary, cacheFolder } = pinned;
  if ((await checkTemporal(binary, env)).usable) return binary;
  await mkdir(cacheFolder, { recursive: true });
  const onWait = (holder: string): void => log(`Waiting for process ${holder}, which is getting the Temporal server.`);
  return withFileLock(join(cacheFolder, 'lock'), { onWait, signal }, async () => {
    if ((await checkTemporal(binary, env)).usable) return binary;
    const download = await downloadTemporal(pinned, { env, log, signal });
    if (download.downloaded) return binary;
    const why = `no temporal on PATH that fits, and ${download.reason}`;
    const unbuilt = build === undefined ? '' : await build(pinned, why);
    if (unbuilt === undefined) return binary;
    const message = `No Temporal dev server: ${why}${unbuilt && `; and ${unbuilt}`}. ${remedy}`;
    throw new ProblemError({ code: 'server_unreachable', message });
  });
}

async function namedBinary(path: string, env: NodeJS.ProcessEnv): Promise<string> {
  const check = await checkTemporal(path, env);
  if (check.usable) return path;
  throw new ProblemError({
    code: 'server_unreachable',
    message: `COUNTERSIGN_TEMPORAL_BINARY names ${path}, which ${check.reason}: point it at the temporal CLI or unset it.`,
  });
}

/** The path of a program. Undefined: no folder of PATH has it. */
export async function findOnPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
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
