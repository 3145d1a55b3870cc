import { randomUUID } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { signalGroup, spawnBound } from '../../packages/cli/src/dev-server/bound-child.ts';
import {
  type FindTemporalOptions,
  findOnPath,
  findTemporal,
} from '../../packages/cli/src/dev-server/start-dev-server.ts';
import { type PinnedTemporal, temporalVersion } from '../../packages/cli/src/dev-server/pinned-temporal.ts';
import { startProgressLine } from '../../packages/cli/src/dev-server/progress-line.ts';

const commandPackage = 'github.com/temporalio/cli/cmd/temporal';
const partPrefix = 'building-';
const keptOutput = 4_096;

/**
 * Finds a Temporal CLI as the commands do, or builds it with Go into the cache, where they find it: for machines that reach
 * package registries only. Returns its absolute path. Throws `server_unreachable` with what to install.
 */
export function temporalOfClone(options: Omit<FindTemporalOptions, 'build'> = {}): Promise<string> {
  const { env = process.env, log = () => undefined } = options;
  const build: FindTemporalOptions['build'] = async (pinned, why) => {
    const go = await findOnPath('go', env);
    if (go === undefined) return 'no go on PATH, which would build it (Go 1.26 or newer, https://go.dev/dl)';
    log(`There is ${why}: building it with Go.`);
    const failed = await buildTemporal(pinned, { ...options, go, env, log });
    return failed && `go could not build it (1.26 or newer is needed): ${failed}`;
  };
  return findTemporal({ ...options, build });
}

/**
 * Builds the pinned CLI with `go` and moves the finished binary into place, so that no other process sees an incomplete one.
 * The first build takes minutes; Ctrl-C and `signal` end it together with the compilers that it started. Returns why it failed,
 * if it did.
 */
async function buildTemporal(
  { cacheFolder, binary }: PinnedTemporal,
  options: { go: string; env: NodeJS.ProcessEnv; log: (line: string) => void; signal?: AbortSignal },
): Promise<string | undefined> {
  await removeRemains(cacheFolder);
  const part = join(cacheFolder, `${partPrefix}${randomUUID()}`);
  // -v prints each package when it is compiled. GOWORK=off, because a surrounding workspace would change the pinned
  // versions.
  const child = spawnBound(
    options.go,
    ['build', '-v', '-buildvcs=false', '-ldflags=-s -w', '-o', part, commandPackage],
    {
      cwd: import.meta.dirname,
      env: { ...options.env, GOWORK: 'off' },
    },
  );
  const progress = startProgressLine(
    `Building the Temporal server ${temporalVersion} from source (once; 5 to 15 minutes):`,
    options.log,
  );
  const abort = (): void => signalGroup(child, 'SIGTERM');
  options.signal?.addEventListener('abort', abort);
  try {
    const { code, output } = await finished(child, (text) => progress.detail(text));
    options.signal?.throwIfAborted();
    if (code !== 0) return whyItFailed(output);
    await rename(part, binary);
    return undefined;
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

/** Removes files of interrupted builds. Call it with the lock held, so that no other process writes there. */
async function removeRemains(folder: string): Promise<void> {
  const remains = (await readdir(folder)).filter((name) => name.startsWith(partPrefix));
  await Promise.all(remains.map((name) => rm(join(folder, name), { force: true })));
}
