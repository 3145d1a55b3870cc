import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { CountersignClient } from '../../client/client.ts';
import { type Output, processOutput } from './output.ts';

/** The options of every command. */
export interface CommonOptions {
  json?: boolean;
  address?: string;
  namespace?: string;
  debug?: boolean;
}

export function withCommonOptions(command: Command): Command {
  return command
    .option('--json', 'print JSON, one value per line, also on a terminal')
    .option('--address <host:port>', 'the Temporal server (default: TEMPORAL_ADDRESS, else 127.0.0.1:7233)')
    .option('--namespace <name>', 'its namespace (default: TEMPORAL_NAMESPACE, else default)')
    .option('--debug', 'show the stack of an error');
}

/** A parser for commander: a whole number in a range. */
export function wholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  };
}

/** Connects, runs `use`, and always closes the connection. */
export async function withClient(
  options: CommonOptions & { taskQueue?: string },
  use: (client: CountersignClient, output: Output) => Promise<void>,
): Promise<void> {
  const { createClient } = await import('../../client/client.ts'); // 0.2 s that --help need not wait for
  const client = await createClient(options);
  try {
    await use(client, processOutput(options));
  } finally {
    await client.close();
  }
}

/** A command for the person to type next, with the flags that lead to the same server. */
export function nextCommand(options: CommonOptions, ...words: string[]): string {
  const server = [
    ...(options.address === undefined ? [] : ['--address', options.address]),
    ...(options.namespace === undefined ? [] : ['--namespace', options.namespace]),
  ];
  return ['countersign', ...words, ...server].map(quoteWord).join(' ');
}

function quoteWord(word: string): string {
  return /^[\w.,:/@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
