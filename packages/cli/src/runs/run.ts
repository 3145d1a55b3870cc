import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { escapeText, isProblemError, type JsonObject } from 'countersign/base';
import type { CountersignClient, RunHandle, RunResult } from 'countersign/client';
import { modes, type Mode } from 'countersign/policy';
import { renderWaiting } from '../inbox/approval-views.ts';
import { type ClientFlags, nextCommand, withClient, withClientFlags } from '../base/command-line.ts';
import { jsonFields } from '../base/json-fields.ts';
import { type Output, escapeLines } from '../base/output.ts';
import { readText } from '../base/read-text.ts';
import { UsageError, untilInterrupted } from '../base/report-error.ts';
import { renderResult } from './run-views.ts';

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

/** How long a worker that starts at the same time may take, in milliseconds. */
const workerGraceMs = 5_000;
/** How often the run's open requests are read, in milliseconds. Reading adds nothing to its history. */
const lookEveryMs = 1_000;

/** `countersign run AGENT`: starts a run, shows its requests as they open, and prints the result. */
export function addRun(program: Command): void {
  const command = withClientFlags(program.command('run <agent>'), jsonFields.result)
    .description('start a run of an agent and wait for its result')
    .option('--input <text>', 'the input of the agent; - reads standard input')
    .option('--id <id>', "the run's id, used once (default: run-AGENT-RANDOM)")
    .option('--key <key>', 'makes a retry safe: the same key and input find the run that they have started')
    .option('--policy <file>', "a policy of this run's own; it can only tighten the operator's")
    .addOption(new Option('--mode <mode>', "a mode for the run's own policy").choices(modes))
    .option('--caller <id>', 'the user of the run')
    .option('--session', 'keep the run open for further messages (`countersign message`), until it is closed')
    .option('--task-queue <name>', 'where a worker of this agent listens (default: countersign)')
    .option('--detach', "print the run's id and do not wait");
  command.action(async (agent: string, options: RunOptions) => {
    if (options.id !== undefined && options.key !== undefined) {
      throw new UsageError('A key becomes the id of the run: give --key or --id, not both.');
    }
    const input = await readInput(options.input);
    const policy = options.policy === undefined ? undefined : await readPolicyOption(options.policy);
    await withClient(options, async (client, output) => {
      // Checked before the start, so that a wrong setup leaves no run behind.
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
      if (output.forPeople) output.line(`${escapeText(handle.workflowId)}\n${lookAgain(options, handle)}`);
      else output.json({ workflowId: handle.workflowId });
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

/**
 * Shows requests as they open until the run ends. Ctrl-C leaves the run alone and prints the command to show it again.
 */
async function follow(
  client: CountersignClient,
  handle: RunHandle,
  output: Output,
  options: RunOptions,
): Promise<void> {
  const progress = (line: string): void => (output.forPeople ? output.line(line) : output.note(line));
  progress(`${output.style('dim', 'run')} ${escapeText(handle.workflowId)}`);
  const stop = new AbortController();
  const ended = handle.result({ signal: stop.signal });
  const watching = [
    watchRequests(client, handle, stop.signal, (row) => progress(renderWaiting(output, row, options))),
    ...(options.session === true ? [followSession(client, handle, stop.signal, progress, options)] : []),
  ];
  try {
    const first = await Promise.race([ended, untilInterrupted()]);
    if (typeof first === 'string') {
      process.exitCode = 130;
      ended.catch(() => undefined); // aborted below
      output.note(`\nThe run continues. ${lookAgain(options, handle)}`);
      return;
    }
    if (output.forPeople) output.line(renderResult(output, first));
    else output.json(printable(handle, first));
    // A session completes by being closed.
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
  progress: (line: string) => void,
  options: RunOptions,
): Promise<void> {
  const run = escapeText(workflowId);
  progress(`Say more: ${nextCommand(options, 'message', run, 'TEXT')}\nEnd it: ${nextCommand(options, 'close', run)}`);
  await watchAnswers(client, workflowId, stop, {
    answer: (text) => progress(escapeLines(text)),
    failed: (why) => progress(`${escapeLines(why)}\nTry again: ${nextCommand(options, 'message', run, '--retry')}`),
  });
}

/** Shows each request that the run opens, once, until `stop` aborts. */
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
      .catch(() => ({ approvals: [] })); // the awaited result reports the error
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

/** The result for other programs; the journal is left out. */
function printable(
  { workflowId }: RunHandle,
  { status, output, finish, structuredOutput, usage, nestedUsage, cost, outcomes }: RunResult,
): object {
  return { workflowId, status, output, finish, structuredOutput, usage, nestedUsage, cost, outcomes };
}

/** Shows how each turn of a session ends, until the run ends or `signal` aborts. */
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
    // The awaited result reports the error.
    if (!isProblemError(error)) throw error;
  }
}
