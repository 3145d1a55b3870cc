import type { Command } from 'commander';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';
import { durationOption } from '../base/client-options.ts';

interface CleanOptions extends ClientFlags {
  folder?: string;
  olderThan?: number;
  dryRun?: boolean;
}

/** Adds the command that removes unneeded files from the folder of large payloads. */
export function addPayloads(payloads: Command): void {
  withClientFlags(payloads.command('clean'))
    .description('remove files that no run of the namespace needs, open or closed')
    .option('--folder <path>', 'the payload folder (default: COUNTERSIGN_PAYLOAD_FOLDER)')
    .option(
      '--older-than <duration>',
      'only files that are at least this old, 1h or more (default: 24h)',
      durationOption(),
    )
    .option('--dry-run', 'count, and remove nothing')
    .action((options: CleanOptions) =>
      withClient(options, async (client, output) => {
        const { cleanPayloads } = await import('countersign/client');
        const { folder, olderThan, dryRun = false } = options;
        const cleaned = await cleanPayloads(client.session, { dryRun, folder, olderThanMs: olderThan });
        if (!output.forPeople) return output.json(cleaned);
        const { removed, removedBytes, kept, runs } = cleaned;
        output.line(`${dryRun ? 'Would remove' : 'Removed'} ${removed} files of ${removedBytes} bytes; ${kept} stay.`);
        output.line(`Read ${runs} histories.`);
      }),
    );
}
