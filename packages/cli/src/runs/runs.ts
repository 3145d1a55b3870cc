import { type Command, Option } from 'commander';
import { escapeText, instantText, terminalClock } from 'countersign/base';
import type { ListedRun, ListedStatus } from 'countersign/client';
import { type ClientFlags, wholeNumber, withClient, withClientFlags } from '../base/command-line.ts';
import { jsonFields } from '../base/json-fields.ts';
import type { Output } from '../base/output.ts';
import { renderTable } from '../base/table.ts';

interface RunsOptions extends ClientFlags {
  status?: ListedStatus;
  agent?: string;
  limit: number;
}

/** A copy of the client's list: importing that would load the client, for which --help need not wait. */
const statuses: readonly ListedStatus[] = ['running', 'waiting', 'completed', 'failed', 'cancelled'];

/** `countersign runs`: lists runs from visibility, the newest first. */
export function addRuns(program: Command): void {
  withClientFlags(program.command('runs'), jsonFields.listedRun)
    .description('list runs, the newest first')
    .addOption(new Option('--status <status>', 'only runs in this state').choices(statuses))
    .option('--agent <name>', 'only runs that were started with this agent')
    .option('--limit <n>', 'at most so many', wholeNumber(1, 100_000), 100)
    .action((options: RunsOptions) =>
      withClient(options, async (client, output) => {
        const { status, agent, limit } = options;
        const rows: ListedRun[] = [];
        // One more shows whether there are more.
        for await (const row of client.runs({ status, agent, limit: limit + 1 })) {
          if (output.forPeople) rows.push(row);
          else if (rows.push(row) <= limit) output.json(row);
        }
        if (output.forPeople) output.line(renderRuns(output, rows.slice(0, limit)));
        if (rows.length > limit) output.note(`There are more: --limit ${limit} was reached.`);
      }),
    );
}

function renderRuns(output: Output, rows: readonly ListedRun[]): string {
  if (rows.length === 0) return 'There are no such runs.';
  const clock = terminalClock();
  return renderTable(
    output,
    ['RUN', 'STATUS', 'OPEN', 'AGENT', 'STARTED', 'CLOSED'],
    rows.map(({ workflowId, workflowType, status, agent, open, startedAt, closedAt }) => [
      escapeText(workflowId),
      status,
      open === 0 ? '' : String(open),
      agent === undefined ? `(${escapeText(workflowType)})` : escapeText(agent),
      instantText(startedAt, clock),
      closedAt === undefined ? '' : instantText(closedAt, clock),
    ]),
    { whole: ['RUN'] },
  );
}
