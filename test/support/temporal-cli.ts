import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { sharedAddress } from './shared-server.ts';

const run = promisify(execFile);

export interface Ran {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs the `temporal` command line against the server that all durable tests share. */
export function temporal(args: string[]): Promise<Ran> {
  return runTemporal([...args, '--address', sharedAddress()]);
}

/**
 * What the real command line says against these words; undefined if it takes them. It is given an address at which
 * nobody listens, so what it takes it cannot do. `isWhole`: flags that it requires may not be left out.
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

/** The help of an unknown word is that of the program. */
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
