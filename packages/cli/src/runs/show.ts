import type { Command } from 'commander';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';
import { eventPrinter } from './event-lines.ts';
import { jsonFields } from '../base/json-fields.ts';
import { processOutput } from '../base/output.ts';
import { readFileText } from '../policy/policy-file.ts';
import { MissingArgumentError, UsageError } from '../base/report-error.ts';
import { renderRun } from './run-views.ts';

interface ShowOptions extends ClientFlags {
  events?: boolean;
  file?: string[];
}

/** `countersign show RUN`: the current state of a run, with or without a worker; `--events`: what has happened in it. */
export function addShow(program: Command): void {
  withClientFlags(program.command('show [run]'), [...new Set([...jsonFields.run, ...jsonFields.event])])
    .description('show a run: its status, its calls, what it waits for, what is tried again, its result')
    .option('--events', 'show what has happened in it so far, as `watch` does')
    .option('--file <files...>', 'with --events: an exported history, one file for each execution, oldest first')
    .action(async (workflowId: string | undefined, options: ShowOptions) => {
      const { events = false, file } = options;
      if (file !== undefined && !events) throw new UsageError('--file is for the events of a history: add --events.');
      if (file !== undefined && workflowId === undefined) return showFiles(file, options);
      if (file !== undefined) throw new UsageError('Give either a run or --file.');
      if (workflowId === undefined) throw new MissingArgumentError('Name the run to show.');
      await withClient(options, async (client, output) => {
        if (events) {
          const print = eventPrinter(output, options);
          for await (const event of client.events(workflowId, { follow: false })) print(event);
          return;
        }
        const view = await client.show(workflowId);
        if (output.forPeople) output.line(renderRun(output, view, Date.now()));
        else output.json(view);
      });
    });
}

async function showFiles(files: readonly string[], options: ShowOptions): Promise<void> {
  const texts = await Promise.all(files.map((file) => readFileText(file, 'history')));
  const { eventsOfHistories } = await import('countersign/adapter'); // loads Temporal's protocol
  const print = eventPrinter(processOutput(options), options);
  for (const event of await eventsOfHistories(texts)) print(event);
}
