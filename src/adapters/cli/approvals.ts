import type { Command } from 'commander';
import { escapeText } from '../../core/base/escape-text.ts';
import { renderApproval, renderApprovals } from './approval-views.ts';
import { type ClientFlags, wholeNumber, withClient, withClientFlags } from './command-line.ts';
import { jsonFields } from './json-fields.ts';
import { refuseCommands } from './not-built-yet.ts';
import { refuseMistyped } from './refuse-mistyped.ts';
import { findNamed } from './request-id.ts';

interface ListOptions extends ClientFlags {
  tool?: string;
  agent?: string;
  run?: string;
  limit?: number;
}

/** `countersign approvals [list|show]`: requests that wait for a person. */
export function addApprovals(program: Command): void {
  const approvals = program.command('approvals').description('the requests that wait for a person');
  refuseMistyped(approvals);

  withClientFlags(approvals.command('list', { isDefault: true }), jsonFields.request)
    .description('list open requests, earliest deadline first')
    .option('--tool <name>', 'only calls of this tool')
    .option('--agent <name>', 'only calls of this agent')
    .option('--run <workflow id>', 'only requests of this run')
    .option('--limit <n>', 'the most rows to print', wholeNumber(1, 10_000), 100)
    .action((options: ListOptions) =>
      withClient(options, async (client, output) => {
        const { run, ...filter } = options;
        const { approvals: rows, more, unread } = await client.approvals.list({ ...filter, workflowId: run });
        if (!output.forPeople) for (const row of rows) output.json(row);
        else if (rows.length > 0) output.line(renderApprovals(output, rows, Date.now()));
        else if (unread.length === 0) output.line('Nothing waits for approval.');
        for (const each of unread) {
          if (output.forPeople) output.line(`${each.requestIds.join(', ')}: ${escapeText(each.message)}`);
          else output.json(each);
        }
        if (more > 0) output.note(`${more} more are not shown.`);
      }),
    );

  withClientFlags(approvals.command('show <id>'), jsonFields.details)
    .description('show one request with its full arguments, open or lately settled')
    .option('--run <workflow id>', 'the run that has the request; saves a search')
    .action((id: string, options: ClientFlags & { run?: string }) =>
      withClient(options, async (client, output) => {
        const { run } = options;
        const { requestId } = await findNamed(client, id, run);
        const request = await client.approvals.get(requestId, { workflowId: run });
        if (!output.forPeople) return output.json(request);
        const all = request.settled === undefined ? [] : await client.grants(request.workflowId);
        const left = all.filter((grant) => grant.requestId === requestId);
        output.line(renderApproval(output, request, options, Date.now(), left));
      }),
    );

  refuseCommands(approvals, ['preview']);
}
