import { type Command, Option } from 'commander';
import { escapeText, instantText, terminalClock } from 'countersign/base';
import type { ListedRun, ListedStatus, RunEvent } from 'countersign/client';
import { type ClientFlags, wholeNumber, withClient, withClientFlags, nextCommand } from '../base/command-line.ts';
import { jsonFields } from '../base/json-fields.ts';
import { type Output, processOutput, printReceipt } from '../base/output.ts';
import { namedRun, runName, shortRunIds } from '../base/named-run.ts';
import { renderTable } from '../base/table.ts';
import { type ReviewerOptions, senderOf, withReviewer } from '../base/reviewer.ts';
import { eventPrinter, editsOf, renderRun } from './run-views.ts';
import { readFileText } from '../policy/policy-file.ts';
import { MissingArgumentError, UsageError, untilInterrupted } from '../base/report-error.ts';

interface RunsOptions extends ClientFlags {
  status?: ListedStatus;
  agent?: string;
  limit: number;
}

/** A copy of the client's list: importing it would load the client, and --help would wait for that. */
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
        // One more than the limit shows whether there are more.
        for await (const row of client.runs({ status, agent, limit: limit + 1 })) {
          if (output.forPeople) rows.push(row);
          else if (rows.push(row) <= limit) output.json(row);
        }
        if (output.forPeople) output.line(renderRuns(output, rows.slice(0, limit), Date.now()));
        if (rows.length > limit) output.note(`There are more: --limit ${limit} was reached.`);
      }),
    );
}

/** Runs as a table: what each is asked to do, for whom, and since when. */
export function renderRuns(output: Output, rows: readonly ListedRun[], nowMs: number): string {
  if (rows.length === 0) return 'There are no such runs.';
  const clock = terminalClock(nowMs);
  const short = shortRunIds(rows.map(({ workflowId }) => workflowId));
  return renderTable(
    output,
    ['RUN', 'STATUS', 'STARTED', 'TASK'],
    rows.map((row) => [
      escapeText(short(row.workflowId)),
      row.open === 0 ? row.status : `${row.status} (${row.open})`,
      instantText(row.startedAt, clock),
      runName(row),
    ]),
    { whole: ['RUN', 'STATUS', 'STARTED'] },
  );
}

/** `countersign cancel RUN`: cancels a run as Temporal does. */
export function addCancel(program: Command): void {
  withClientFlags(program.command('cancel <run>'))
    .description('stop a run: open requests are cancelled, running tools are asked to stop')
    .option('--reason <text>', 'why; the history of the run keeps it')
    .action((run: string, options: ClientFlags & { reason?: string }) =>
      withClient(options, async (client, output) => {
        const workflowId = await namedRun(client, run);
        await client.cancel(workflowId, { reason: options.reason });
        const message = `run '${workflowId}' is being cancelled`;
        if (output.forPeople) output.line(escapeText(message));
        else output.json({ workflowId, accepted: true, message });
      }),
    );
}

/** `countersign close RUN`: ends a run in an orderly way. */
export function addClose(program: Command): void {
  const command = withClientFlags(program.command('close <run>')).description(
    'end a run: open requests are cancelled, running tools finish first',
  );
  withReviewer(command, 'the reason, for the model and the audit').action(
    (run: string, options: ClientFlags & ReviewerOptions) =>
      withClient(options, async (client, output) => {
        printReceipt(output, await client.closeRun(await namedRun(client, run), senderOf(options)));
      }),
  );
}

interface ShowOptions extends ClientFlags {
  events?: boolean;
  file?: string[];
}

/** `countersign show RUN`: the current state of a run, with or without a worker; `--events`: its events so far. */
export function addShow(program: Command): void {
  withClientFlags(program.command('show [run]'), [...new Set([...jsonFields.run, ...jsonFields.event])])
    .description('show a run: its status, calls, open requests, retries and result')
    .option('--events', 'show its events so far, as `watch` does')
    .option('--file <files...>', 'with --events: an exported history, one file for each execution, oldest first')
    .action(async (run: string | undefined, options: ShowOptions) => {
      const { events = false, file } = options;
      if (file !== undefined && !events) throw new UsageError('--file is for the events of a history: add --events.');
      if (file !== undefined && run === undefined) return showFiles(file, options);
      if (file !== undefined) throw new UsageError('Give either a run or --file.');
      if (run === undefined) throw new MissingArgumentError('Name the run to show.');
      await withClient(options, async (client, output) => {
        const workflowId = await namedRun(client, run);
        if (events) {
          const print = eventPrinter(output, options, client);
          for await (const event of client.events(workflowId, { follow: false })) await print(event);
          return;
        }
        const view = await client.show(workflowId);
        if (!output.forPeople) return output.json(view);
        const edits = await editsOf(client, workflowId, view.outcomes);
        output.line(renderRun(output, view, Date.now(), edits));
      });
    });
}

async function showFiles(files: readonly string[], options: ShowOptions): Promise<void> {
  const texts = await Promise.all(files.map((file) => readFileText(file, 'history')));
  const { eventsOfHistories } = await import('countersign/adapter'); // loads Temporal's protocol
  const print = eventPrinter(processOutput(options), options);
  for (const event of await eventsOfHistories(texts)) await print(event);
}

interface WatchOptions extends ClientFlags {
  after?: string;
  tokens: boolean;
}

/** `countersign watch RUN`: the events of a run as they happen, until it ends. */
export function addWatch(program: Command): void {
  withClientFlags(program.command('watch <run>'), jsonFields.event)
    .description("follow a run until it ends: the model's texts, calls, requests, decisions and results")
    .option('--after <id>', 'go on after this event, also when the run is over')
    .option('--no-tokens', 'wait for the whole answer of the model')
    .action((run: string, options: WatchOptions) =>
      withClient(options, async (client, output) => {
        const workflowId = await namedRun(client, run);
        const stop = new AbortController();
        const { tokens, after } = options;
        const print = eventPrinter(output, options, client);
        let last = after;
        const events: AsyncIterable<RunEvent> = client.events(workflowId, { after, tokens, signal: stop.signal });
        const watching = (async () => {
          for await (const event of events) {
            await print(event);
            if (event.type !== 'RawResponseEvent') last = event.id;
          }
        })();
        const first = await Promise.race([watching, untilInterrupted()]);
        stop.abort();
        await watching;
        if (first === undefined) return;
        process.exitCode = 130;
        const resume = last === undefined ? [] : ['--after', last];
        output.note(`\nThe run continues. Go on: ${nextCommand(options, 'watch', escapeText(workflowId), ...resume)}`);
      }),
    );
}
