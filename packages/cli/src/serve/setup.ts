import type { Command } from 'commander';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';

/** `countersign setup`: registers the inbox's search attributes on an existing Temporal cluster. */
export function addSetup(program: Command): void {
  withClientFlags(program.command('setup'))
    .description('register the search attributes of the inbox on a cluster of your own')
    .action((options: ClientFlags) =>
      withClient(options, async (client, output) => {
        const { address, namespace } = client.session;
        const { added, freeSlots, retentionDays } = await client.setUp();
        if (!output.forPeople) {
          output.json({ address, namespace, added, freeSlots, retentionDays });
          return;
        }
        output.line(
          added.length === 0 ? 'All search attributes were there already.' : `Registered ${added.join(', ')}.`,
        );
        for (const [type, free] of Object.entries(freeSlots)) {
          output.line(`Free slots for ${type}: ${free ?? 'no limit that can be read'}.`);
        }
        output.line(`Closed runs are kept for ${retentionDays} days.`);
      }),
    );
}
