import { randomUUID } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { signalGroup, spawnBound } from './bound-child.ts';
import type { PinnedTemporal } from './pinned-temporal.ts';
import { startProgressLine } from './progress-line.ts';

const commandPackage = 'github.com/temporalio/cli/cmd/temporal';
const partPrefix = 'building-';
const keptOutput = 4_096;

export type BuildResult = { built: true } | { built: false; reason: string };

/**
 * Builds the pinned CLI with `go` and moves the finished binary into place, so that nobody sees an incomplete one. The
 * first build takes minutes; Ctrl-C and `signal` end it together with the compilers that it started.
 */
export async function buildTemporal(
  pinned: PinnedTemporal,
  options: { go: string; env: NodeJS.ProcessEnv; log: (line: string) => void; signal?: AbortSignal },
): Promise<BuildResult> {
  await removeRemains(pinned.cacheFolder);
  const part = join(pinned.cacheFolder, `${partPrefix}${randomUUID()}`);
  // -v prints each package when it is compiled. GOWORK=off, because a surrounding workspace would change the pinned
  // versions.
  const child = spawnBound(
    options.go,
    ['build', '-v', '-buildvcs=false', '-ldflags=-s -w', '-o', part, commandPackage],
    {
      cwd: pinned.moduleFolder,
      env: { ...options.env, GOWORK: 'off' },
    },
  );
  const progress = startProgressLine(
    `Building the Temporal dev server ${pinned.version} from source (once; 5 to 15 minutes):`,
    options.log,
  );
  const abort = (): void => signalGroup(child, 'SIGTERM');
  options.signal?.addEventListener('abort', abort);
  try {
    const { code, output } = await finished(child, (text) => progress.detail(text));
    options.signal?.throwIfAborted();
    if (code !== 0) return { built: false, reason: whyItFailed(output) };
    await rename(part, pinned.binary);
    return { built: true };
  } finally {
    options.signal?.removeEventListener('abort', abort);
    progress.stop();
    await rm(part, { force: true });
  }
}

function finished(
  child: ReturnType<typeof spawnBound>,
  detail: (text: string) => void,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    let output = '';
    let packages = 0;
    child.stdout.resume();
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      packages += text.split('\n').length - 1;
      detail(`${packages} packages compiled`);
      output = (output + text).slice(-keptOutput);
    });
    child.once('error', (error) => resolve({ code: null, output: error.message }));
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** The line of Go's output with the reason, without the package names that `-v` prints. */
function whyItFailed(output: string): string {
  const lines = output.split('\n').filter((line) => line.includes(' '));
  return lines.at(-1)?.trim() ?? 'go gave no reason';
}

/** Removes files of interrupted builds. Call it with the lock held, so that nobody is writing there. */
async function removeRemains(folder: string): Promise<void> {
  const remains = (await readdir(folder)).filter((name) => name.startsWith(partPrefix));
  await Promise.all(remains.map((name) => rm(join(folder, name), { force: true })));
}
