import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { sharedAddress } from './shared-server.ts';

const run = promisify(execFile);

export interface Ran {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs the `temporal` command line against the shared server of the durable tests. */
export function temporal(args: string[]): Promise<Ran> {
  return runTemporal([...args, '--address', sharedAddress()]);
}

/**
 * The real command line's objection to these words; undefined if it accepts them. The address given has no listener, so
 * accepted commands cannot do anything. With `isWhole`, required flags must be present.
 */
export async function temporalProblem(words: readonly string[], isWhole: boolean): Promise<string | undefined> {
  // A sentence may name a group of commands.
  if (!isWhole && words.length === 1 && (await isGroup(words[0]!))) return undefined;
  const { exitCode, stdout, stderr } = await runTemporal([...words, '--address', '127.0.0.1:1']);
  const [, problem = ''] = /^Error: (.*)$/m.exec(stderr) ?? [];
  if (problem.startsWith('failed reaching server')) return undefined;
  if (!isWhole && problem.startsWith('required flag(s)')) return undefined;
  return problem || `it did not ask a server (exit ${exitCode}): ${stdout.slice(0, 80)}`;
}

/** For an unknown word, the program prints its general help. */
async function isGroup(word: string): Promise<boolean> {
  return (await runTemporal([word, '--help'])).stdout.includes(`temporal ${word} [command]`);
}

async function runTemporal(args: string[]): Promise<Ran> {
  const binary = process.env.COUNTERSIGN_TEMPORAL_BINARY;
  if (binary === undefined) throw new Error('the temporal binary is known only to tests in the durable folders');
  try {
    const { stdout, stderr } = await run(binary, [...args, '--color', 'never']);
    return { exitCode: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    if (typeof code !== 'number') throw error;
    return { exitCode: code, stdout, stderr };
  }
}
