import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { reasonOf } from './reason-of.ts';

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
