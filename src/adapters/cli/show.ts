import type { Command } from 'commander';
import { type ClientFlags, withClient, withClientFlags } from './command-line.ts';
import { jsonFields } from './json-fields.ts';
import { renderRun } from './run-views.ts';

/** `countersign show RUN`: the current state of a run, with or without a worker. */
export function addShow(program: Command): void {
  withClientFlags(program.command('show <run>'), jsonFields.run)
    .description('show a run: its status, its calls, what it waits for, what is tried again, its result')
    .action((workflowId: string, options: ClientFlags) =>
      withClient(options, async (client, output) => {
        const view = await client.show(workflowId);
        if (output.forPeople) output.line(renderRun(output, view, Date.now()));
        else output.json(view);
      }),
    );
}
