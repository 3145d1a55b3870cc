import type { Command } from 'commander';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';
import { printReceipt } from '../base/print-receipt.ts';
import { readText } from '../base/read-text.ts';
import { MissingArgumentError } from '../base/report-error.ts';
import { senderOf } from '../base/reviewer.ts';

interface MessageOptions extends ClientFlags {
  by?: string;
  reason?: string;
}

/** `countersign message RUN TEXT`: what the user of a session says next. */
export function addMessage(program: Command): void {
  withClientFlags(program.command('message <run> [text]'))
    .description('say more to a run that was started with --session; - reads standard input')
    .option('--by <name>', 'who you are, as a claimed name (default: the user of this system)')
    .option('--reason <text>', 'why; the audit keeps it')
    .action(async (workflowId: string, given: string | undefined, { by, reason, ...options }: MessageOptions) => {
      if (given === undefined) {
        throw new MissingArgumentError('Give the message that the agent gets: TEXT, or - to read standard input.');
      }
      const content = await readText(given);
      await withClient(options, async (client, output) => {
        printReceipt(output, await client.message(workflowId, { content, ...senderOf({ reviewer: by, reason }) }));
      });
    });
}
