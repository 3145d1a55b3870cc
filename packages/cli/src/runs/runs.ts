import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { escapeText, isProblemError, type JsonObject, instantText, terminalClock } from 'countersign/base';
import type { CountersignClient, RunHandle, RunResult, ListedRun, ListedStatus, RunEvent } from 'countersign/client';
import { modes, type Mode } from 'countersign/policy';
import { renderWaiting } from '../inbox/approval-views.ts';
import { type ClientFlags, nextCommand, withClient, withClientFlags, wholeNumber } from '../base/command-line.ts';
import { jsonFields } from '../base/json-fields.ts';
import {
  escapeLines,
  processOutput,
  printReceipt,
  UsageError,
  untilInterrupted,
  MissingArgumentError,
  type Output,
} from '../base/output.ts';
import { readText } from '../base/read-text.ts';
import { renderResult, eventPrinter, editsOf, renderRun } from './run-views.ts';
import { namedRun, runName, shortRunIds } from '../base/named-run.ts';
import { renderTable } from '../base/table.ts';
import { type ReviewerOptions, senderOf, withReviewer } from '../base/reviewer.ts';
import { readFileText } from '../policy/policy-file.ts';

interface RunOptions extends ClientFlags {
  input?: string;
  id?: string;
  key?: string;
  policy?: string;
  mode?: Mode;
  caller?: string;
  session?: boolean;
  taskQueue?: string;
  detach?: boolean;
}

/** The longest time that a worker may take to start, in milliseconds. */
const workerGraceMs = 5_000;
/** The time between two reads of open requests, in milliseconds. Reading adds nothing to the history. */
const lookEveryMs = 1_000;

/** Adds the command that starts a run. Unless detached, it shows the open requests, and at the end the result. */
export function addRun(command: Command): void {
  withClientFlags(command, jsonFields.result)
    .option('--input <text>', 'the input of the agent; - reads standard input')
    .option('--id <id>', "the run's id, used once (default: run-AGENT-RANDOM)")
    .option('--key <key>', 'makes a retry safe: the same key and input find the run that they have started')
    .option('--policy <file>', "a policy of this run's own; it can only tighten the operator's")
    .addOption(new Option('--mode <mode>', "a mode for the run's own policy").choices(modes))
    .option('--caller <id>', 'the user of the run')
    .option('--session', 'keep the run open for further messages (`countersign message`), until it is closed')
    .option('--task-queue <name>', 'where a worker of this agent listens (default: countersign)')
    .option('--detach', "print the run's id and do not wait")
    .action(async (agent: string, options: RunOptions) => {
      if (options.id !== undefined && options.key !== undefined) {
        throw new UsageError('A key becomes the id of the run: give --key or --id, not both.');
      }
      const input = await readInput(options.input);
      const policy = options.policy === undefined ? undefined : await readPolicyOption(options.policy);
      await withClient(options, async (client, output) => {
        // The worker is awaited before the start, so that a wrong setup leaves no run behind.
        if (options.detach !== true) await client.requireWorker(workerGraceMs);
        const handle = await client.start(agent, input, {
          workflowId: options.id,
          idempotencyKey: options.key,
          policy,
          mode: options.mode,
          caller: options.caller === undefined ? undefined : { userId: options.caller },
          session: options.session,
        });
        if (options.detach !== true) return follow(client, handle, output, options);
        if (!(await client.waitForWorker(0)))
          output.note('No worker polls yet. Start one with `countersign worker`; the run waits.');
        const { workflowId } = handle;
        output.result(`${escapeText(workflowId)}\n${lookAgain(options, handle)}`, { workflowId });
      });
    });
}

async function readPolicyOption(file: string): Promise<JsonObject> {
  const { readPolicyDocument } = await import('../policy/policy-file.ts'); // other commands need not load this parser
  return readPolicyDocument(file);
}

async function readInput(input: string | undefined): Promise<string> {
  if (input === undefined)
    throw new UsageError('The agent needs an input: give --input TEXT, or --input - to read standard input.');
  return readText(input);
}

/** Waits until the run ends, shows its requests meanwhile, and prints its result. Ctrl-C ends only this command. */
async function follow(
  client: CountersignClient,
  handle: RunHandle,
  output: Output,
  options: RunOptions,
): Promise<void> {
  output.tell(`${output.style('dim', 'run')} ${escapeText(handle.workflowId)}`);
  const stop = new AbortController();
  const ended = handle.result({ signal: stop.signal });
  const watching = [
    watchRequests(client, handle, stop.signal, (row) => output.tell(renderWaiting(output, row, options))),
    ...(options.session === true ? [followSession(client, handle, stop.signal, output, options)] : []),
  ];
  try {
    const first = await Promise.race([ended, untilInterrupted()]);
    const isInterrupted = typeof first === 'string';
    if (isInterrupted) {
      process.exitCode = 130;
      ended.catch(() => undefined); // it rejects when `stop` aborts
      output.note(`\nThe run continues. ${lookAgain(options, handle)}`);
      return;
    }
    output.result(renderResult(output, first), printable(handle, first));
    // `closed` is how a session ends well.
    if (first.status !== (options.session === true ? 'closed' : 'completed')) process.exitCode = 1;
  } catch (error) {
    if (isProblemError(error) && error.code === 'server_unreachable')
      output.note(`The run continues. ${lookAgain(options, handle)}`);
    throw error;
  } finally {
    stop.abort();
    await Promise.all(watching);
  }
}

/** Prints the answers of a session until `stop` aborts, and the commands that continue and end it. */
async function followSession(
  client: CountersignClient,
  { workflowId }: RunHandle,
  stop: AbortSignal,
  output: Output,
  options: RunOptions,
): Promise<void> {
  const run = escapeText(workflowId);
  output.tell(
    `Say more: ${nextCommand(options, 'message', run, 'TEXT')}\nEnd it: ${nextCommand(options, 'close', run)}`,
  );
  const retry = nextCommand(options, 'message', run, '--retry');
  await watchAnswers(client, workflowId, stop, {
    answer: (text) => output.tell(escapeLines(text)),
    failed: (why) => output.tell(`${escapeLines(why)}\nTry again: ${retry}`),
  });
}

/** Calls `show` once for each request of the run, until `stop` aborts. */
async function watchRequests(
  client: CountersignClient,
  handle: RunHandle,
  stop: AbortSignal,
  show: (row: Awaited<ReturnType<CountersignClient['approvals']['list']>>['approvals'][number]) => void,
): Promise<void> {
  const seen = new Set<string>();
  while (!stop.aborted) {
    const { approvals } = await client.approvals
      .list({ workflowId: handle.workflowId })
      .catch(() => ({ approvals: [] })); // `follow` reports the error, from the run's result
    for (const row of approvals) {
      if (!seen.has(row.requestId)) show(row);
      seen.add(row.requestId);
    }
    await sleep(lookEveryMs, undefined, { signal: stop }).catch(() => undefined);
  }
}

function lookAgain(options: RunOptions, { workflowId }: RunHandle): string {
  return `Look again: ${nextCommand(options, 'show', escapeText(workflowId))}`;
}

function printable(
  { workflowId }: RunHandle,
  { status, output, finish, structuredOutput, usage, nestedUsage, cost, outcomes }: RunResult,
): object {
  return { workflowId, status, output, finish, structuredOutput, usage, nestedUsage, cost, outcomes };
}

/** Calls `show.answer` for each text of the model, and `show.failed` for each failed turn, until `signal` aborts. */
async function watchAnswers(
  client: CountersignClient,
  workflowId: string,
  signal: AbortSignal,
  show: { answer: (text: string) => void; failed: (why: string) => void },
): Promise<void> {
  try {
    for await (const event of client.events(workflowId, { tokens: false, signal })) {
      if (event.type !== 'RunItemEvent') continue;
      const { item } = event;
      if (item.type === 'message' && item.role === 'assistant') show.answer(item.content);
      if (item.type === 'turn_ended' && item.failure !== undefined) show.failed(item.failure.message);
    }
  } catch (error) {
    // `follow` reports the same error, from the run's result.
    if (!isProblemError(error)) throw error;
  }
}

interface RunsOptions extends ClientFlags {
  status?: ListedStatus;
  agent?: string;
  limit: number;
}

/** A copy of `listedStatuses` of the client. Importing that would load the client, and --help would wait for it. */
const statuses: readonly ListedStatus[] = ['running', 'waiting', 'completed', 'failed', 'cancelled'];

export function addRuns(command: Command): void {
  withClientFlags(command, jsonFields.listedRun)
    .addOption(new Option('--status <status>', 'only runs in this state').choices(statuses))
    .option('--agent <name>', 'only runs that were started with this agent')
    .option('--limit <n>', 'at most so many', wholeNumber(1, 100_000), 100)
    .action((options: RunsOptions) =>
      withClient(options, async (client, output) => {
        const { status, agent, limit } = options;
        const rows: ListedRun[] = [];
        // One row more than the limit is read, to know if there are more.
        for await (const row of client.runs({ status, agent, limit: limit + 1 })) {
          if (output.forPeople) rows.push(row);
          else if (rows.push(row) <= limit) output.json(row);
        }
        if (output.forPeople) output.line(renderRuns(output, rows.slice(0, limit), Date.now()));
        if (rows.length > limit) output.note(`There are more: --limit ${limit} was reached.`);
      }),
    );
}

/** Renders runs as a table: the status of each, with the number of open requests, its start, its user and its task. */
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

export function addCancel(command: Command): void {
  withClientFlags(command)
    .option('--reason <text>', 'why; the history of the run keeps it')
    .action((run: string, options: ClientFlags & { reason?: string }) =>
      withClient(options, async (client, output) => {
        const workflowId = await namedRun(client, run);
        await client.cancel(workflowId, { reason: options.reason });
        const message = `run '${workflowId}' is being cancelled`;
        output.result(escapeText(message), { workflowId, accepted: true, message });
      }),
    );
}

export function addClose(command: Command): void {
  withReviewer(withClientFlags(command), 'the reason, for the model and the audit').action(
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

/** Adds the command that shows the state of a run, even without a worker, or its events with `--events`. */
export function addShow(command: Command): void {
  withClientFlags(command, [...new Set([...jsonFields.run, ...jsonFields.event])])
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

/** Adds the command that prints the events of a run until the run ends. Ctrl-C prints the command that continues. */
export function addWatch(command: Command): void {
  withClientFlags(command, jsonFields.event)
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
