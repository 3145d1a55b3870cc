import { workflowType } from 'countersign/adapter';
import type { Json, ReaderClock } from 'countersign/base';
import {
  deadlineText,
  escapeJson,
  escapeText,
  instantText,
  personsShown,
  terminalClock,
  shownPerson,
  toldText,
  unfinishedText,
} from 'countersign/base';
import { undeliveredMessage, editText } from 'countersign/card';
import type {
  CallOutcome,
  Delivered,
  RunResult,
  RunStatus,
  Retry,
  RunView,
  ApprovalDecision,
  ApprovalRequestEvent,
  ApprovalResultEvent,
  CountersignClient,
  RawResponseEvent,
  RecordedEvent,
  RunCompleteEvent,
  RunEvent,
  RunItem,
} from 'countersign/client';
import { renderApprovals, unreadText, escapedCommand } from '../inbox/approval-views.ts';
import { type Output, type Style, escapeLines } from '../base/output.ts';
import { renderFields, renderTable } from '../base/table.ts';
import { type ClientFlags, nextCommand } from '../base/command-line.ts';
import { truncate } from '../base/fit-text.ts';

/** Renders a run: its state, calls, open requests and result. `edits`: what reviewers changed, by request id. */
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

function failedTurn({ failedTurn: failed }: Partial<RunStatus> = {}): string | undefined {
  return failed === undefined ? undefined : `turn ${failed.turn}: ${failed.message}`;
}

/** Returns who may answer the open requests and the first deadline or, for a session, that its user must write. */
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

/** Returns the last failure of each channel. A failure begins with `CHANNEL:`. */
function lastOfEachChannel(failures: readonly string[]): string[] {
  return [...new Map(failures.map((text) => [text.split(':', 1)[0], text])).values()];
}

/** Returns the channels that got requests, their last failures, and requests that no channel has, or has only later. */
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
    ...deliveries.flatMap(({ requestId, undelivered, heldUntil }): [string, string | undefined][] => {
      const id = escapeText(requestId);
      return [
        ['not delivered', undelivered ? output.style('yellow', `${undeliveredMessage}: ${id}`) : undefined],
        ['held until', heldUntil === undefined ? undefined : `${instantText(heldUntil, clock)}: ${id}`],
      ];
    }),
  ];
}

function describeRetry({ activity, attempt, maxAttempts, message, nextAttemptAt }: Retry, clock: ReaderClock): string {
  const of = maxAttempts === undefined ? '' : ` of ${maxAttempts}`;
  const at = nextAttemptAt === undefined ? ' (running)' : ` at ${instantText(nextAttemptAt, clock)}`;
  return `${escapeText(activity)}, attempt ${attempt}${of}${at}; the last one: ${escapeText(message)}`;
}

export function renderResult(output: Output, result: RunResult): string {
  const parts = result.outcomes.length > 0 ? [renderOutcomes(output, result.outcomes), ''] : [];
  if (result.status !== 'completed') parts.push(output.style('red', `The run ended as ${result.status}.`));
  return [...parts, withFinish(output, result.output, result.finish)].join('\n');
}

/** Renders how calls ended, `as ID` with the result of call ID. `edits`: what reviewers changed, by request id. */
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

/** Returns the numbers of calls, of each outcome, and of refused messages: `3 calls · 1 approved · 2 waiting`. */
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

/** Returns a function that prints an event: lines for people, one JSON value for programs. */
export function eventPrinter(
  output: Output,
  options: ClientFlags,
  client?: CountersignClient,
): (event: RunEvent) => Promise<void> {
  if (!output.forPeople) return async (event) => output.json(event);
  /** The model's text that was streamed since the last other event; undefined without any. */
  let streamed: string | undefined;
  return async (event) => {
    if (event.type === 'RawResponseEvent') {
      streamed = stream(output, event, streamed);
      return;
    }
    const message = event.type === 'RunItemEvent' && event.item.type === 'message' ? event.item : undefined;
    // A text that was streamed to its end is on the screen already, and is not printed again.
    const isShown = message !== undefined && message.content === streamed;
    if (streamed !== undefined) output.write('\n');
    streamed = undefined;
    const isAnswer = event.type === 'ApprovalResultEvent' && client !== undefined;
    const edit = isAnswer ? await editOf(client, event) : undefined;
    if (!isShown) output.line(renderEvent(output, event, options, edit));
    else if (message.outputProblem !== undefined) output.line(askedAgain(output, message.outputProblem));
  };
}

/** Writes a part of the model's answer after the `shown` part, and returns what is on the screen now. */
function stream(output: Output, { delta, offset, hidden }: RawResponseEvent, shown: string | undefined): string {
  // A part that begins before the end of the shown text belongs to a new attempt of the model.
  const isNew = shown === undefined || offset < shown.length;
  if (shown !== undefined && isNew) output.line(`\n${output.style('dim', 'the model starts over')}`);
  if (isNew) output.write(label(output, 'model', 'bold'));
  if (hidden !== undefined) output.write(output.style('dim', `(${hidden} characters before this are not shown) `));
  output.write(escapeLines(delta));
  // With hidden characters, the NUL makes the result unequal to the whole message, so that this is printed later.
  const before = isNew ? '' : shown;
  return hidden === undefined ? before + delta : `${before}\u0000${delta}`;
}

const labelWidth = 10;

function label(output: Output, text: string, style: Style): string {
  return output.style(style, text.padEnd(labelWidth));
}

/** Renders an event, with text of a run escaped and cut. `edit`: what the reviewer changed, for a decision. */
export function renderEvent(output: Output, event: RecordedEvent, options: ClientFlags, edit?: string): string {
  switch (event.type) {
    case 'RunItemEvent':
      return renderItem(output, event.item, options);
    case 'ApprovalRequestEvent':
      return renderRequest(output, event, options);
    case 'ApprovalResultEvent':
      return renderDecision(output, event, edit);
    case 'RunCompleteEvent':
      return renderEnd(output, event);
    case 'gap':
      return line(output, label(output, 'gap', 'red'), event.message);
  }
}

/** Renders one step of a run. Messages of the user and the model are whole, other texts are cut. */
function renderItem(output: Output, item: RunItem, options: ClientFlags): string {
  switch (item.type) {
    case 'message': {
      const text = `${label(output, item.role === 'user' ? 'user' : 'model', 'bold')}${withFinish(output, toldText(item.content, item.files ?? []), item.finish)}`;
      return item.outputProblem === undefined ? text : `${text}\n${askedAgain(output, item.outputProblem)}`;
    }
    case 'tool_call': {
      const args = item.arguments === undefined ? '' : ` ${escapeJson(item.arguments)}`;
      return `${label(output, 'call', 'bold')}${cut(output, `${escapeText(`${item.callId} ${item.toolName}`)}${args}`)}`;
    }
    case 'tool_result': {
      const { callId, toolName, content, resultOf } = item;
      if (resultOf !== undefined) {
        return line(output, label(output, 'cached', 'green'), `${callId} ${toolName}, as ${resultOf}: ${content}`);
      }
      const how =
        item.withheld === true
          ? label(output, 'withheld', 'yellow')
          : label(output, item.isError ? 'error' : 'result', item.isError ? 'red' : 'green');
      return line(output, how, `${callId} ${toolName}: ${content}`);
    }
    case 'nested_run': {
      const watch = nextCommand(options, 'watch', escapeText(item.workflowId));
      return `${label(output, 'nested', 'bold')}${escapeText(item.callId)}: ${watch}`;
    }
    case 'handoff':
      return line(output, label(output, 'handoff', 'bold'), `${item.from} hands the run over to ${item.to}`);
    case 'turn_ended': {
      if (item.failure === undefined) {
        return `${label(output, item.stopped ? 'stopped' : 'ended', 'bold')}turn ${item.turn}`;
      }
      return line(output, label(output, 'failed', 'red'), `turn ${item.turn}: ${item.failure.message}`);
    }
  }
}

function renderRequest(output: Output, event: ApprovalRequestEvent, options: ClientFlags): string {
  const { requestId, callId, toolName, reason, deadline, workflowId } = event;
  const until = deadline === null ? '' : ` (until ${instantText(deadline, terminalClock())})`;
  const asked = line(output, label(output, 'asks', 'yellow'), `${callId} ${toolName}: ${reason}${until}`);
  return `${asked}\n${' '.repeat(labelWidth)}${escapedCommand(options, 'approve', requestId, workflowId)}`;
}

const yes: readonly ApprovalDecision[] = ['approved', 'approved_always'];

function renderDecision(output: Output, event: ApprovalResultEvent, edit?: string): string {
  const { decision, callId, toolName, reviewerId, reviewerName, reason } = event;
  const who = reviewerId === null ? '' : ` by ${shownPerson(reviewerId, reviewerName)}`;
  const why = reason === null ? '' : `: ${reason}`;
  const style = yes.includes(decision) ? 'green' : 'red';
  const what = edit === undefined ? decision.replace('_', ' ') : editedText(edit);
  return line(output, label(output, 'decided', style), `${callId} ${toolName} ${what}${who}${why}`);
}

function renderEnd(output: Output, { status, output: text, finish, failure }: RunCompleteEvent): string {
  const style = status === 'completed' ? 'green' : 'red';
  const message = failure === undefined ? text : failure.message;
  return `${label(output, status, style)}${withFinish(output, message, finish)}`;
}

function askedAgain(output: Output, problem: string): string {
  return output.style('yellow', `(asked again: ${escapeText(problem)})`);
}

/** Returns a text of the model, with a note if it may be incomplete. */
export function withFinish(output: Output, text: string, finish: RunCompleteEvent['finish']): string {
  const note = finish === undefined ? '' : `\n${output.style('yellow', `(${unfinishedText(finish)})`)}`;
  return `${escapeLines(text)}${note}`;
}

function line(output: Output, head: string, text: string): string {
  return `${head}${cut(output, escapeText(text))}`;
}

function cut(output: Output, text: string): string {
  return truncate(text, output.width - labelWidth);
}

/** Returns what a reviewer changed, such as `amount 89 → 50`; undefined if nothing, or if the run has forgotten it. */
async function editOf(
  client: CountersignClient,
  { decision, requestId, workflowId }: Pick<ApprovalResultEvent, 'decision' | 'requestId' | 'workflowId'>,
): Promise<string | undefined> {
  if (decision !== 'approved') return undefined;
  const request = await client.approvals.get(requestId, { workflowId }).catch(() => undefined);
  const edited = request?.settled?.edited;
  return edited === undefined ? undefined : editText(request!.arguments, edited.arguments);
}

/** Returns what reviewers changed, by request. The text is empty if the run has forgotten the change. */
export async function editsOf(
  client: CountersignClient,
  workflowId: string,
  outcomes: readonly CallOutcome[],
): Promise<ReadonlyMap<string, string>> {
  const edits = new Map<string, string>();
  if (!outcomes.some(({ outcome }) => outcome === 'approved')) return edits;
  const { entries } = await client.journal(workflowId);
  const opened = entries.filter(({ kind }) => kind === 'opened');
  const openedDigests = new Map(opened.map((entry) => [entry.requestId, entry.digest]));
  for (const { kind, outcome, requestId = '', digest } of entries) {
    // An approval with the digest of the opened request changed nothing, because an edited call has another digest.
    if (kind !== 'settled' || outcome !== 'approved' || openedDigests.get(requestId) === digest) continue;
    edits.set(requestId, (await editOf(client, { decision: 'approved', requestId, workflowId })) ?? '');
  }
  return edits;
}

/** Returns `approved with an edit: amount 89 → 50`, escaped. */
export function editedText(edit: string | undefined): string {
  return `approved with an edit${edit === undefined || edit === '' ? '' : `: ${escapeText(edit)}`}`;
}
