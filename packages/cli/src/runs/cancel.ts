import type { Command } from 'commander';
import { escapeText } from 'countersign/base';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';

/** `countersign cancel RUN`: cancels a run as Temporal does. */
export function addCancel(program: Command): void {
  withClientFlags(program.command('cancel <run>'))
    .description('stop a run: what waits is cancelled, what runs is asked to stop')
    .option('--reason <text>', 'why; the history of the run keeps it')
    .action((workflowId: string, options: ClientFlags & { reason?: string }) =>
      withClient(options, async (client, output) => {
        await client.cancel(workflowId, { reason: options.reason });
        const message = `run '${workflowId}' is being cancelled`;
        if (output.forPeople) output.line(escapeText(message));
        else output.json({ workflowId, accepted: true, message });
      }),
    );
}
