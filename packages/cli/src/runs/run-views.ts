import { workflowType } from 'countersign/adapter';
import {
  deadlineText,
  escapeJson,
  escapeText,
  instantText,
  type Json,
  personsShown,
  type ReaderClock,
  terminalClock,
} from 'countersign/base';
import { undeliveredMessage } from 'countersign/card';
import type { CallOutcome, Delivered, RunResult, RunStatus, Retry, RunView } from 'countersign/client';
import { renderApprovals, unreadText } from '../inbox/approval-views.ts';
import type { Output } from '../base/output.ts';
import { renderFields, renderTable } from '../base/table.ts';
import { editedText } from './edits.ts';
import { withFinish } from './event-lines.ts';

/** `edits`: what reviewers changed in calls, by request. */
export function renderRun(
  output: Output,
  view: RunView,
  nowMs: number,
  edits: ReadonlyMap<string, string> = new Map(),
): string {
  const { run, result, failure, outcomes, returned } = view;
  const clock = terminalClock(nowMs);
  const usage = run?.usage ?? result?.usage;
  const nested = run?.nestedUsage ?? result?.nestedUsage;
  const cost = run?.cost ?? result?.cost;
  const failed = failure?.message ?? failedTurn(run);
  const parts = [
    renderFields(output, [
      ['run', escapeText(view.workflowId)],
      ['status', output.style('bold', view.status)],
      ['workflow', view.workflowType === workflowType ? undefined : escapeText(view.workflowType)],
      ['agent', run === undefined ? undefined : escapeText(run.agent)],
      ['started', instantText(view.startedAt, clock)],
      ['closed', view.closedAt === undefined ? undefined : instantText(view.closedAt, clock)],
      ['task queue', escapeText(view.taskQueue)],
      ['turns', run === undefined ? undefined : `${run.turn} (executions: ${run.executions})`],
      ['calls', run === undefined ? undefined : countsOf(run.counts, outcomes)],
      ['tokens', usage === undefined ? undefined : `${usage.inputTokens} in, ${usage.outputTokens} out`],
      ['nested tokens', nested === undefined ? undefined : `${nested.inputTokens} in, ${nested.outputTokens} out`],
      ['cost', cost === undefined ? undefined : costText(cost)],
      ['waits for', run === undefined ? undefined : waitsFor(run, nowMs, clock)],
      ...channelFields(output, view.deliveries ?? [], clock),
      ['channels', view.deliveriesNote === undefined ? undefined : `not known: ${escapeText(view.deliveriesNote)}`],
      ...(view.retrying ?? []).map((each): [string, string] => [
        'retrying',
        output.style('yellow', describeRetry(each, clock)),
      ]),
      ['failed', failed === undefined ? undefined : output.style('red', escapeText(failed))],
      ['note', view.note === undefined ? undefined : escapeText(view.note)],
    ]),
  ];
  if (outcomes.length > 0) parts.push('', renderOutcomes(output, outcomes, edits));
  if (view.open.length > 0)
    parts.push('', output.style('yellow', 'waiting for approval'), renderApprovals(output, view.open, nowMs));
  if (view.unread !== undefined) parts.push('', output.style('yellow', unreadText(view.unread)));
  else if (view.more > 0) parts.push(`and ${view.more} more`);
  if (result !== undefined) parts.push('', withFinish(output, result.output, result.finish));
  if (returned !== undefined) parts.push('', `returned ${escapeJson(returned as Json)}`);
  return parts.join('\n');
}

/** Why a session waits without an answer. */
function failedTurn({ failedTurn: failed }: Partial<RunStatus> = {}): string | undefined {
  return failed === undefined ? undefined : `turn ${failed.turn}: ${failed.message}`;
}

/** All who may answer one of the requests, and the earliest deadline; or the user of a session. */
function waitsFor(
  { waitingFor: waiting, awaitsMessage, failedTurn: failed }: RunStatus,
  nowMs: number,
  clock: ReaderClock,
): string | undefined {
  if (waiting === undefined && awaitsMessage !== true) return undefined;
  if (waiting === undefined)
    return failed === undefined ? 'the next message of its user' : 'a message of its user, or a retry';
  const names = new Set(
    waiting.flatMap(({ reviewers, people }) => {
      const shown = personsShown(people);
      return reviewers.length === 0 ? ['any reviewer'] : reviewers.map((id) => shown(id));
    }),
  );
  const deadlines = waiting.flatMap(({ deadline }) => deadline ?? []).toSorted();
  const until = deadlines[0] === undefined ? '' : `, until ${deadlineText(deadlines[0], nowMs, clock)}`;
  return escapeText(Array.from(names).join(', ')) + until;
}

/** A failure begins with the name of its channel. */
function lastOfEachChannel(failures: readonly string[]): string[] {
  return [...new Map(failures.map((text) => [text.split(':', 1)[0], text])).values()];
}

/** The channels that were asked, and what they last failed at. */
function channelFields(
  output: Output,
  deliveries: readonly Delivered[],
  clock: ReaderClock,
): [string, string | undefined][] {
  const channels = new Set(deliveries.flatMap((each) => each.channels));
  return [
    ['channels', channels.size === 0 ? undefined : Array.from(channels).join(', ')],
    ...deliveries
      .flatMap(({ failures }) => lastOfEachChannel(failures))
      .map((text): [string, string] => ['channel failed', output.style('yellow', escapeText(text))]),
    ...deliveries.flatMap(({ requestId, undelivered, heldUntil }): [string, string][] => [
      ...(undelivered
        ? [
            ['not delivered', output.style('yellow', `${undeliveredMessage}: ${escapeText(requestId)}`)] as [
              string,
              string,
            ],
          ]
        : []),
      ...(heldUntil === undefined
        ? []
        : [['held until', `${instantText(heldUntil, clock)}: ${escapeText(requestId)}`] as [string, string]]),
    ]),
  ];
}

function describeRetry({ activity, attempt, maxAttempts, message, nextAttemptAt }: Retry, clock: ReaderClock): string {
  const of = maxAttempts === undefined ? '' : ` of ${maxAttempts}`;
  const at = nextAttemptAt === undefined ? ' (running)' : ` at ${instantText(nextAttemptAt, clock)}`;
  return `${escapeText(activity)}, attempt ${attempt}${of}${at}; the last one: ${escapeText(message)}`;
}

/** The result of an awaited run. */
export function renderResult(output: Output, result: RunResult): string {
  const parts = result.outcomes.length > 0 ? [renderOutcomes(output, result.outcomes), ''] : [];
  if (result.status !== 'completed') parts.push(output.style('red', `The run ended as ${result.status}.`));
  return [...parts, withFinish(output, result.output, result.finish)].join('\n');
}

/** A table of the calls of a run and how they ended. `edits`: what an edit changed, by request id. */
function renderOutcomes(
  output: Output,
  outcomes: CallOutcome[],
  edits: ReadonlyMap<string, string> = new Map(),
): string {
  const rows = outcomes.map(({ callId, toolName, requestId = '', outcome, ran, withheld, resultOf }) => [
    escapeText(callId),
    escapeText(toolName),
    edits.has(requestId) ? editedText(edits.get(requestId)) : escapeText(outcome),
    escapeText(withheld === true ? `${ran}, result withheld` : resultOf === undefined ? ran : `${ran}, as ${resultOf}`),
  ]);
  return renderTable(output, ['CALL', 'TOOL', 'OUTCOME', 'RAN'], rows);
}

function costText({ amount, currency, unpriced = [] }: NonNullable<RunResult['cost']>): string {
  const known = `${Number(amount.toFixed(6))} ${escapeText(currency)}`;
  if (unpriced.length === 0) return known;
  return `unknown: ${known}, and no price for ${unpriced.map((name) => escapeText(name)).join(', ')}`;
}

/** How many calls had which outcome, and how many wait: `3 calls · 1 approved · 2 waiting`. */
function countsOf({ calls, open, refused }: RunStatus['counts'], outcomes: readonly CallOutcome[]): string {
  const byOutcome = new Map<string, number>();
  for (const { outcome } of outcomes) byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + 1);
  return [
    calls === 1 ? '1 call' : `${calls} calls`,
    ...Array.from(byOutcome, ([outcome, count]) => `${count} ${outcome.replaceAll('_', ' ')}`),
    ...(open === 0 ? [] : [`${open} waiting`]),
    ...(refused === 0 ? [] : [refused === 1 ? '1 message refused' : `${refused} messages refused`]),
  ].join(' · ');
}
