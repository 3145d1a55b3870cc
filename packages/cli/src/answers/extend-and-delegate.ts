import type { Command } from 'commander';
import { parseDuration, ProblemError, escapeText } from 'countersign/base';
import type { CountersignClient, StandingDelegation } from 'countersign/client';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';
import { printMarked, printReceipt, UsageError, type Output } from '../base/output.ts';
import { findNamed } from '../base/request-id.ts';
import type { ReviewerOptions, SignerOptions } from '../base/reviewer.ts';
import { senderOf, withReviewer, signerOf, withSigner, reviewerOf } from '../base/reviewer.ts';

interface ExtendOptions extends ClientFlags, ReviewerOptions, SignerOptions {
  run?: string;
  until?: string;
  for?: string;
}

/** Adds the command that moves the deadline of a request, to an instant or by a duration. */
export function addExtend(command: Command): void {
  withClientFlags(command)
    .option('--until <instant>', 'its new deadline, in UTC, such as 2030-01-31T12:00:00Z')
    .option('--for <duration>', 'how much later than its present deadline, such as 30m')
    .option('--run <workflow id>', 'the run that has the request; saves a search');
  withSigner(withReviewer(command, 'why; the audit keeps it')).action((id: string, options: ExtendOptions) => {
    const { run, until, for: more } = options;
    if ((until === undefined) === (more === undefined)) {
      throw new UsageError('Say how long it may wait: --until INSTANT, or --for 30m.');
    }
    const moreMs = more === undefined ? undefined : durationMs(more);
    return withClient(options, async (client, output) => {
      const { requestId } = await findNamed(client, id, run);
      const later = moreMs === undefined ? undefined : await afterDeadline(client, requestId, moreMs, run);
      const message = { requestId, until: later?.until ?? until!, ...senderOf(options) };
      const workflowId = later?.workflowId ?? run;
      printReceipt(output, await client.extend(message, { workflowId, ...signerOf(options) }));
    });
  });
}

/** Returns the instant `moreMs` after a request's deadline, and its run. Throws for a request without a deadline. */
async function afterDeadline(
  client: CountersignClient,
  requestId: string,
  moreMs: number,
  run: string | undefined,
): Promise<{ until: string; workflowId: string }> {
  const { deadline, workflowId } = await client.approvals.get(requestId, { workflowId: run });
  if (deadline === null) {
    throw new ProblemError({ code: 'invalid_message', message: `request ${requestId} has no deadline` });
  }
  return { until: new Date(Date.parse(deadline) + moreMs).toISOString(), workflowId };
}

function durationMs(text: string): number {
  const parsed = parseDuration(text);
  if ('durationMs' in parsed && parsed.durationMs !== null) return parsed.durationMs;
  throw new UsageError(`--for must be a whole number and a unit, such as 30s, 5m, 1h or 1d.`);
}

interface DelegateOptions extends ClientFlags, ReviewerOptions, SignerOptions {
  run?: string;
  to?: string;
  from?: string;
  all?: boolean;
  until?: string;
  list?: boolean;
  stop?: boolean;
  taskQueue?: string;
}

/** Adds the command that lets another person decide for a reviewer: one request, all open ones, or also later ones. */
export function addDelegate(command: Command): void {
  withClientFlags(command)
    .option('--to <name>', 'who')
    .option('--from <name>', 'the present reviewer, if you are an operator; needs --reason')
    .option('--all', 'every open request that you may answer, in the place of an id')
    .option('--until <day or instant>', 'with --all: also new requests until then, a day included, in UTC')
    .option('--task-queue <name>', 'with --until: where a worker listens (default: countersign)')
    .option('--list', 'list the delegations until a date')
    .option('--stop', 'end your delegation until a date')
    .option('--run <workflow id>', 'the run that has the request; saves a search');
  withSigner(withReviewer(command, 'why; the audit keeps it')).action(
    (id: string | undefined, options: DelegateOptions) => {
      const act = actionOf(id, options);
      return withClient(options, act);
    },
  );
}

type Act = (client: CountersignClient, output: Output) => Promise<void>;

/** Returns what the flags ask for: to list, to stop, or to delegate one or all requests. Throws if they disagree. */
function actionOf(id: string | undefined, options: DelegateOptions): Act {
  const { to, from, run, all = false, until, list = false, stop = false } = options;
  const named = [id !== undefined, all, list, stop].filter(Boolean);
  if (named.length !== 1) throw new UsageError('Give the id of a request, or one of --all, --list and --stop.');
  if (until !== undefined && !all) throw new UsageError('--until is for --all.');
  if (id === undefined && (from !== undefined || run !== undefined)) {
    throw new UsageError('--from and --run are for one request: give its id.');
  }
  if (list) return printStanding;
  // For one request, `senderOf` names the sender, who may also be anonymous.
  const by = id === undefined ? reviewerOf(options) : undefined;
  if (id === undefined && by === undefined) throw new UsageError('Say whose requests they are: add --reviewer NAME.');
  if (stop) {
    return async (client, output) => {
      await client.standingDelegations.stop(by!, options.reason);
      const message = `New requests for '${by}' stay with them. Delegated requests stay delegated.`;
      output.result(escapeText(message), { by, stopped: true, message });
    };
  }
  if (to === undefined) throw new UsageError('Say who decides: add --to NAME.');
  if (id !== undefined) {
    return async (client, output) => {
      const { requestId } = await findNamed(client, id, run);
      const message = { requestId, to, ...(from !== undefined && { from }), ...senderOf(options) };
      printReceipt(output, await client.delegate(message, { workflowId: run, ...signerOf(options) }));
    };
  }
  return (client, output) => delegateAll(client, output, { by: by!, to, until, options });
}

/** Delegates the open requests of `by` and, with `until`, new ones. Exit code 1 if a run refuses or does not answer. */
async function delegateAll(
  client: CountersignClient,
  output: Output,
  { by, to, until, options }: { by: string; to: string; until?: string; options: DelegateOptions },
): Promise<void> {
  const { reason } = options;
  const delegation = { by, to, ...(reason !== undefined && { reason }), ...(until !== undefined && { until }) };
  const { receipts, silentRuns, standing } = await client.delegateAll(delegation, signerOf(options));
  if (receipts.length === 0) output.tell(`No open request waits for ${escapeText(by)}.`);
  for (const receipt of receipts) {
    printMarked(output, receipt.accepted, `${receipt.toolName}: ${receipt.message}`, receipt);
  }
  if (silentRuns > 0) {
    process.exitCode = 1;
    output.tell(`Not asked, because no worker answers for them: ${silentRuns === 1 ? '1 run' : `${silentRuns} runs`}.`);
  }
  if (standing === undefined) return;
  if (!output.forPeople) output.json(standing);
  else {
    output.line(`Until ${standing.untilAt}, new requests for ${escapeText(by)} go to ${escapeText(to)}.`);
    output.line('End it with `countersign delegate --stop`.');
  }
}

async function printStanding(client: CountersignClient, output: Output): Promise<void> {
  const standing = await client.standingDelegations.list();
  if (output.forPeople && standing.length === 0) output.line('Nothing is delegated until a date.');
  for (const each of standing) output.result(standingLines(each).join('\n'), each);
}

function standingLines({ by, to, untilAt, reason, delegated, left }: StandingDelegation): string[] {
  const why = reason === undefined ? '' : `: ${reason}`;
  const sentence = `${by} → ${to}, until ${untilAt}${why} (${delegated} delegated, ${left.length} left with ${by})`;
  return [escapeText(sentence), ...left.map(({ message }) => `  ${escapeText(message)}`)];
}
