import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../support/eventually.ts';

const main = fileURLToPath(new URL('../../../src/adapters/cli/main.ts', import.meta.url));
export const agentsModule = fileURLToPath(new URL('../../fixtures/cli-agents.ts', import.meta.url));

export interface CliOptions {
  /** Laid over this process's environment; undefined takes a variable away. */
  env?: Record<string, string | undefined>;
  input?: string;
  /** The test writes to standard input itself, and ends it. */
  keepInputOpen?: boolean;
  cwd?: string;
}

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A `countersign` process that is running. */
export interface RunningCli {
  child: ChildProcessWithoutNullStreams;
  stdout(): string;
  stderr(): string;
  ended: Promise<CliResult>;
  /** Waits until standard output, or standard error, holds the text. */
  shows(text: string, stream?: 'stdout' | 'stderr'): Promise<void>;
}

/** Runs the command line as a process of its own, to its end. */
export function cli(args: string[], options: CliOptions = {}): Promise<CliResult> {
  return startCli(args, options).ended;
}

/** The one JSON value on each line of standard output. */
export function jsonLines(result: CliResult): Record<string, unknown>[] {
  return result.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

export function startCli(args: string[], { env = {}, input, keepInputOpen = false, cwd }: CliOptions = {}): RunningCli {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  child.stdin.on('error', () => undefined); // a process that ends without reading its input
  if (!keepInputOpen) child.stdin.end(input ?? '');
  const ended = new Promise<CliResult>((resolve) => {
    child.once('close', (code) => resolve({ code, ...texts }));
  });
  return {
    child,
    ended,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    shows: async (text, stream = 'stdout') => {
      await eventually(`'${text}' on ${stream}, not ${JSON.stringify(texts)}`, () => {
        if (child.exitCode !== null) throw new Error(`the process ended first: ${JSON.stringify(texts)}`);
        return texts[stream].includes(text);
      });
    },
  };
}
