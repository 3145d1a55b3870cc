import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Output } from '../../../packages/cli/src/base/output.ts';
import { eventually } from '../../support/eventually.ts';
import { openTerminal } from '../../channels/open-terminal.ts';
import { type CliOptions, type CliResult, environment } from './in-process.ts';

export { type CliResult, cli } from './in-process.ts';

const main = fileURLToPath(new URL('../../../packages/cli/src/main.ts', import.meta.url));
export const agentsModule = fileURLToPath(new URL('../../fixtures/cli-agents.ts', import.meta.url));

interface ProcessOptions extends CliOptions {
  /** The test itself writes to standard input and ends it. */
  keepInputOpen?: boolean;
}

/** A running `countersign` process. */
export interface RunningCli {
  child: ChildProcessWithoutNullStreams;
  stdout(): string;
  stderr(): string;
  ended: Promise<CliResult>;
  /** Waits until standard output, or standard error, contains the text. */
  shows(text: string, stream?: 'stdout' | 'stderr'): Promise<void>;
}

/** A terminal of so many columns, without colours. */
export function terminal(width = Infinity): Output {
  return {
    forPeople: true,
    width,
    height: Infinity,
    line: () => undefined,
    tell: () => undefined,
    result(text) {
      this.line(text);
    },
    write: () => undefined,
    json: () => undefined,
    note: () => undefined,
    style: (_format, text) => text,
  };
}

/** The JSON values on standard output, one per line. */
export function jsonLines(result: CliResult): Record<string, unknown>[] {
  return result.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Starts the command line in its own process. */
export function startCli(
  args: string[],
  { env = {}, input, keepInputOpen = false, cwd }: ProcessOptions = {},
): RunningCli {
  const child = spawn(process.execPath, [main, ...args], {
    env: environment(env),
    ...(cwd === undefined ? {} : { cwd }),
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  child.stdin.on('error', () => undefined); // for a process that ends without reading its input
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
      await eventually(
        () => `'${text}' on ${stream}, not ${JSON.stringify(texts)}`,
        () => {
          if (child.exitCode !== null) throw new Error(`the process ended first: ${JSON.stringify(texts)}`);
          return texts[stream].includes(text);
        },
      );
    },
  };
}

/** Starts the command line on a terminal of its own. */
export function startOnTerminal(words: string[], env: Record<string, string>) {
  return openTerminal([process.execPath, main, ...words], env);
}
