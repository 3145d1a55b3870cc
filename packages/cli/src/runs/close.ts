import type { Command } from 'commander';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';
import { printReceipt } from '../base/print-receipt.ts';
import { type ReviewerOptions, senderOf, withReviewer } from '../base/reviewer.ts';

/** `countersign close RUN`: ends a run in an orderly way. */
export function addClose(program: Command): void {
  const command = withClientFlags(program.command('close <run>')).description(
    'end a run: what waits is cancelled, what runs ends first',
  );
  withReviewer(command, 'why; the model and the audit are told').action(
    (workflowId: string, options: ClientFlags & ReviewerOptions) =>
      withClient(options, async (client, output) => {
        printReceipt(output, await client.closeRun(workflowId, senderOf(options)));
      }),
  );
}
