import { type Command, Option } from 'commander';
import { escapeText } from 'countersign/base';
import type { ApprovalList } from 'countersign/client';
import { renderInbox } from './approval-views.ts';
import { type ClientFlags, wholeNumber, withClient, withClientFlags, withCommonOptions } from '../base/command-line.ts';
import { durationOption, refuseMistyped } from '../base/client-options.ts';
import { jsonFields } from '../base/json-fields.ts';
import { processOutput, UsageError, untilInterrupted, type Output } from '../base/output.ts';
import { readRequest } from '../base/read-request.ts';
import { findNamed } from '../base/request-id.ts';
import { renderRow } from './card-view.ts';
import { watchApprovals } from './watch-approvals.ts';
import type { PreviewOptions } from './preview.ts';

interface ListOptions extends ClientFlags {
  tool?: string;
  agent?: string;
  run?: string;
  limit?: number;
  after?: string;
  watch?: boolean;
  interval?: number;
}

const channels: readonly PreviewOptions['channel'][] = ['terminal', 'markdown', 'html', 'slack', 'text'];

/** The time between two polls. A poll is one query of visibility, and adds nothing to a history. */
const lookEveryMs = 2_000;

export function addApprovals(approvals: Command): void {
  refuseMistyped(approvals, 'list');

  withClientFlags(approvals.command('list', { isDefault: true }), jsonFields.request)
    .description('list open requests, earliest deadline first')
    .option('--tool <name>', 'only calls of this tool')
    .option('--agent <name>', 'only calls of this agent')
    .option('--run <workflow id>', 'only requests of this run')
    .option('--limit <n>', 'the most rows to print', wholeNumber(1, 10_000), 100)
    .option('--after <place>', 'the next page: the place that the page before ends with')
    .addOption(
      new Option('--watch', 'print the list again when it changes, until Ctrl-C').conflicts(['limit', 'after']),
    )
    .option('--interval <duration>', 'with --watch: how often to look (default: 2s)', durationOption(1_000))
    .action((options: ListOptions) => {
      if (options.interval !== undefined && options.watch !== true) {
        throw new UsageError('--interval says how often --watch looks: add --watch.');
      }
      return withClient(options, async (client, output) => {
        const { run, tool, agent, limit, after, interval: intervalMs = lookEveryMs } = options;
        const filter = { tool, agent, workflowId: run };
        const listAll = () => client.approvals.list({ ...filter, limit: Infinity });
        if (options.watch === true) return watchUntilInterrupted(listAll, output, intervalMs);
        const inbox = await client.approvals.list({ ...filter, limit, after });
        const { approvals: rows, unread, more, next } = inbox;
        if (output.forPeople) output.line(renderInbox(output, inbox, Date.now()));
        else for (const each of [...rows, ...unread]) output.json(each);
        if (next !== undefined) output.note(`More may wait: add --after ${next} for the next page.`);
        else if (more > 0) output.note(`${more} more are not shown.`);
      });
    });

  withClientFlags(approvals.command('show <id>'), jsonFields.details)
    .description('show one request, open or lately settled, with all its arguments if a worker answers')
    .option('--run <workflow id>', 'the run that has the request; saves a search')
    .option('--all', 'cut nothing, and show the raw call, on a terminal')
    .action((id: string, options: ClientFlags & { run?: string; all?: boolean }) =>
      withClient(options, async (client, output) => {
        const { run } = options;
        const { requestId } = await findNamed(client, id, run);
        const read = await readRequest(client, requestId, run);
        if ('row' in read) {
          output.result(renderRow(output, read.row, options, Date.now()), read.row);
          return output.note(escapeText(`${read.why.message} Only this is known of the request until one does.`));
        }
        const request = read.details;
        if (!output.forPeople) return output.json(request);
        const all = request.settled === undefined ? [] : await client.grants(request.workflowId);
        const left = all.filter((grant) => grant.requestId === requestId);
        const { renderCard } = await import('./card-view.ts');
        output.line(renderCard(output, request, options, { nowMs: Date.now(), all: options.all, grants: left }));
      }),
    );

  withCommonOptions(approvals.command('preview'))
    .description('print the card of a reviewer for the call on standard input: { tool, args, risk? } as JSON')
    .addOption(new Option('--channel <channel>', 'where the reviewer is').choices(channels).default('terminal'))
    .option('--all', 'cut nothing')
    .option('--policy <file>', 'the policy that rules on the call (default: none)')
    .action(async (options: PreviewOptions) => {
      const { previewCard } = await import('./preview.ts');
      await previewCard(options, processOutput(options));
    });
}

/** Shows the list and its changes until Ctrl-C. Rejects if the first look fails. */
async function watchUntilInterrupted(
  list: () => Promise<ApprovalList>,
  output: Output,
  intervalMs: number,
): Promise<void> {
  const stop = new AbortController();
  const watching = watchApprovals(list, output, { intervalMs, stop: stop.signal });
  await Promise.race([watching, untilInterrupted()]);
  stop.abort();
  watching.catch(() => undefined); // after Ctrl-C the connection closes, so a last poll may fail
}
