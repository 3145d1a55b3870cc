import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { type PinnedTemporal, temporalVersion, reasonOf, checkTemporal } from './pinned-temporal.ts';

const run = promisify(execFile);
const answerTimeoutMs = 5_000;
const stalledAfterMs = 15_000;

/**
 * The address from which the Temporal SDKs request the archive of a release. `COUNTERSIGN_TEMPORAL_DOWNLOAD` replaces
 * the address; `off` disables the download.
 */
const officialDownload = 'https://temporal.download/cli';

export type DownloadResult = { downloaded: true } | { downloaded: false; reason: string };

/** Downloads the pinned release from the SDKs' source, and moves it into place. Never throws for network errors. */
export async function downloadTemporal(
  pinned: PinnedTemporal,
  options: { env: NodeJS.ProcessEnv; log: (line: string) => void; signal?: AbortSignal },
): Promise<DownloadResult> {
  const from = options.env.COUNTERSIGN_TEMPORAL_DOWNLOAD || officialDownload;
  if (from === 'off') return { downloaded: false, reason: 'the download is switched off' };
  const folder = join(pinned.cacheFolder, `downloading-${randomUUID()}`);
  try {
    const archive = await locate(`${from}/${temporalVersion}`, options.signal);
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

/**
 * The archive for this machine, and the name of the program in it, as the download service gives them. Throws for any
 * other response.
 */
async function locate(address: string, signal?: AbortSignal): Promise<{ url: string; file: string }> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const timeout = AbortSignal.timeout(answerTimeoutMs);
  const response = await fetch(`${address}?arch=${arch}&platform=${platform}`, {
    signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
  });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const { archiveUrl, fileToExtract } = (await response.json()) as { archiveUrl?: unknown; fileToExtract?: unknown };
  if (typeof archiveUrl !== 'string' || typeof fileToExtract !== 'string') throw new Error('an unexpected answer');
  // The name becomes a path and an argument of tar: it must stay inside the folder and must not be an option.
  if (!/^\w[\w.]*$/.test(fileToExtract)) throw new Error('an archive of another shape');
  // A plain-http archive is accepted only if the address itself was plain http, such as a local mirror.
  if (address.startsWith('https:') && !archiveUrl.startsWith('https:')) throw new Error('an archive that is not https');
  return { url: archiveUrl, file: fileToExtract };
}

/** Writes the body of `url` to `path`; gives up after 15 s without data. */
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
