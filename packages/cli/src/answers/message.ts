import type { Command } from 'commander';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';
import { namedRun } from '../base/named-run.ts';
import { printReceipt, MissingArgumentError, UsageError } from '../base/output.ts';
import { readText } from '../base/read-text.ts';
import { senderOf } from '../base/reviewer.ts';

interface MessageOptions extends ClientFlags {
  by?: string;
  reason?: string;
  retry?: true;
  stop?: true;
}

/** Adds the command that sends a session a text of its user, or asks it to retry or to stop. */
export function addMessage(command: Command): void {
  withClientFlags(command)
    .option('--retry', 'instead of TEXT: retry the model call that failed last')
    .option('--stop', 'instead of TEXT: end the running turn; its open requests are withdrawn')
    .option('--by <name>', 'who you are, as a claimed name (default: the user of this system)')
    .option('--reason <text>', 'why; the audit keeps it')
    .action(async (run: string, given: string | undefined, { by, reason, retry, stop, ...options }: MessageOptions) => {
      const named = [given !== undefined, retry, stop].filter(Boolean);
      if (named.length > 1) throw new UsageError('Give one of TEXT, --retry and --stop.');
      const message = await messageOf(given, retry, stop);
      await withClient(options, async (client, output) => {
        const sent = { ...message, ...senderOf({ reviewer: by, reason }) };
        printReceipt(output, await client.message(await namedRun(client, run), sent));
      });
    });
}

/** Returns what the run gets: a text, a retry or a stop. Throws a usage error if none of them is asked for. */
async function messageOf(given: string | undefined, retry: true | undefined, stop: true | undefined) {
  if (stop) return { stop };
  if (retry) return { retry };
  if (given === undefined) {
    throw new MissingArgumentError('Give the message that the agent gets: TEXT, or - to read standard input.');
  }
  return { content: await readText(given) };
}
