import { homedir } from 'node:os';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** The release of the Temporal CLI that this version of the project pins. */
export const temporalVersion = 'v1.8.2';
/** A digest of tools/temporal, which builds the CLI in a clone. It is a part of the name of the cache folder. */
export const temporalPin = 'f21d35f6ae585038';

export interface PinnedTemporal {
  /** The folder for exactly this release on exactly this platform. */
  cacheFolder: string;
  /** The absolute path of the binary, which may not exist yet. */
  binary: string;
}

export function pinnedTemporal(env: NodeJS.ProcessEnv): PinnedTemporal {
  const release = `${temporalVersion}-${process.platform}-${process.arch}-${temporalPin}`;
  const cacheFolder = join(userCacheFolder(env), 'temporal', release);
  const binary = join(cacheFolder, process.platform === 'win32' ? 'temporal.exe' : 'temporal');
  return { cacheFolder, binary };
}

/** Returns the cache folder for this project: `COUNTERSIGN_CACHE`, else that of the platform. */
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

/** The result of a check. A binary is usable if it is a Temporal CLI with a suitable server. */
type Usability = { usable: true; version: string } | { usable: false; reason: string };

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

/** Returns the first line of the last cause's message. Avoids `instanceof`, which fails for errors of another realm. */
export function reasonOf(error: unknown): string {
  const { message, cause } = Object(error) as { message?: unknown; cause?: unknown };
  if (cause !== undefined) return reasonOf(cause);
  return String(message ?? error).split('\n', 1)[0] ?? '';
}

const answerTimeoutMs = 5_000;
const stalledAfterMs = 15_000;

/** The address from which Temporal's SDKs download the CLI. `COUNTERSIGN_TEMPORAL_DOWNLOAD` replaces or disables it. */
const officialDownload = 'https://temporal.download/cli';

type DownloadResult = { downloaded: true } | { downloaded: false; reason: string };

/** Downloads the pinned release to `pinned.binary`. Returns a reason if that fails; throws only if `signal` aborts. */
export async function downloadTemporal(
  pinned: PinnedTemporal,
  options: { env: NodeJS.ProcessEnv; log: (line: string) => void; signal?: AbortSignal },
): Promise<DownloadResult> {
  const from = options.env.COUNTERSIGN_TEMPORAL_DOWNLOAD || officialDownload;
  if (from === 'off') return { downloaded: false, reason: 'the download is switched off' };
  // The folder is beside the binary, because `rename` does not move a file to another file system.
  const folder = join(pinned.cacheFolder, `downloading-${randomUUID()}`);
  try {
    const archive = await findArchive(`${from}/${temporalVersion}`, options.signal);
    options.log(`Downloading the Temporal server ${temporalVersion}`);
    await mkdir(folder);
    await save(archive.url, join(folder, 'archive'), options.signal);
    await run('tar', ['-xf', 'archive', '--', archive.file], { cwd: folder, env: options.env });
    const binary = join(folder, archive.file);
    await chmod(binary, 0o755);
    const check = await checkTemporal(binary, options.env);
    if (!check.usable) return { downloaded: false, reason: `the downloaded file ${check.reason}` };
    await rename(binary, pinned.binary);
    return { downloaded: true };
  } catch (error) {
    options.signal?.throwIfAborted();
    return { downloaded: false, reason: `${new URL(from).host} did not give it (${reasonOf(error)})` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Asks the download server for this machine's archive, and the name of the program in it. Throws for a bad answer. */
async function findArchive(address: string, signal?: AbortSignal): Promise<{ url: string; file: string }> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const timeout = AbortSignal.timeout(answerTimeoutMs);
  const response = await fetch(`${address}?arch=${arch}&platform=${platform}`, {
    signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
  });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const { archiveUrl, fileToExtract } = (await response.json()) as { archiveUrl?: unknown; fileToExtract?: unknown };
  if (typeof archiveUrl !== 'string' || typeof fileToExtract !== 'string') throw new Error('an unexpected answer');
  // The name becomes a path and an argument of tar, so it must not lead out of the folder or look like an option.
  if (!/^\w[\w.]*$/.test(fileToExtract)) throw new Error('an archive of another shape');
  // A plain-http archive is accepted only if the address itself was plain http, such as a local mirror.
  if (address.startsWith('https:') && !archiveUrl.startsWith('https:')) throw new Error('an archive that is not https');
  return { url: archiveUrl, file: fileToExtract };
}

/** Downloads `url` to the file `path`. Gives up after 15 s without data. */
async function save(url: string, path: string, signal?: AbortSignal): Promise<void> {
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(new Error('it stalled')), stalledAfterMs);
  try {
    const either = signal ? AbortSignal.any([stalled.signal, signal]) : stalled.signal;
    const response = await fetch(url, { signal: either });
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
    const alive = new Transform({
      transform: (chunk, _encoding, done) => {
        timer.refresh();
        done(null, chunk);
      },
    });
    await pipeline(Readable.fromWeb(response.body), alive, createWriteStream(path), { signal: either });
  } finally {
    clearTimeout(timer);
  }
}
