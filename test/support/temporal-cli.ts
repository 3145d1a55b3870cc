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
export async function temporal(args: string[]): Promise<Ran> {
  const binary = process.env.COUNTERSIGN_TEMPORAL_BINARY;
  if (binary === undefined) throw new Error('the temporal binary is known only to tests in the durable folders');
  try {
    const { stdout, stderr } = await run(binary, [...args, '--address', sharedAddress(), '--color', 'never']);
    return { exitCode: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    if (typeof code !== 'number') throw error;
    return { exitCode: code, stdout, stderr };
  }
}
