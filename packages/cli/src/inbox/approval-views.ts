import { escapeText, escapeUnseen, shownPerson, timeLeft, visibleLine } from 'countersign/base';
import { argumentsText, rowSentence, undeliveredMessage } from 'countersign/card';
import type { ApprovalList, UnreadRun, ApprovalSummary } from 'countersign/client';
import { type CommonOptions, nextCommand } from '../base/command-line.ts';
import { truncate } from '../base/fit-text.ts';
import type { Output } from '../base/output.ts';
import { shortIds } from '../base/request-id.ts';
import { renderTable } from '../base/table.ts';

/** Renders the open requests, and the runs whose requests cannot be read. */
export function renderInbox(output: Output, { approvals, unread }: ApprovalList, nowMs: number): string {
  const lines = unread.map(unreadText);
  if (approvals.length > 0) {
    return [
      renderApprovals(output, approvals, nowMs),
      ...undeliveredLines(output, approvals),
      ...impossibleLines(output, approvals),
      ...lines,
    ].join('\n');
  }
  return lines.length > 0 ? lines.join('\n') : 'Nothing waits for approval.';
}

function undeliveredLines(output: Output, rows: ApprovalSummary[]): string[] {
  const short = shortIds(rows.map(({ requestId }) => requestId));
  const ids = rows.filter(({ undelivered }) => undelivered).map(({ requestId }) => escapeText(short(requestId)));
  return ids.length === 0 ? [] : [output.style('yellow', `${undeliveredMessage}: ${ids.join(', ')}`)];
}

function impossibleLines(output: Output, rows: ApprovalSummary[]): string[] {
  const short = shortIds(rows.map(({ requestId }) => requestId));
  return rows.flatMap(({ requestId, cannotBeApproved: why }) =>
    why === undefined ? [] : [output.style('yellow', escapeText(`${short(requestId)}: ${why}`))],
  );
}

export function unreadText({ requestIds, message }: UnreadRun): string {
  return escapeText(`${requestIds.join(', ')}: ${message}`);
}

export const linesOfRequest = 2;

/** Renders open requests as a table: the sentence of each, and below it the people; at the left, time and severity. */
export function renderApprovals(output: Output, rows: ApprovalSummary[], nowMs: number): string {
  const short = shortIds(rows.map(({ requestId }) => requestId));
  return renderTable(
    output,
    ['REQUEST', 'LEFT', 'CALL'],
    rows.map((row) => [
      escapeText(short(row.requestId)),
      `${row.deadline === null ? 'no limit' : leftOf(row.deadline, nowMs)}\n${severityOf(output, row)}`,
      `${escapeUnseen(rowSentence(row))}\n${factsOf(row)}`,
    ]),
    { whole: ['REQUEST', 'LEFT'] },
  );
}

/** Returns the severity; empty for `medium`, which most requests have. */
function severityOf(output: Output, { severity }: ApprovalSummary): string {
  if (severity === 'medium') return '';
  const style = severity === 'critical' ? 'red' : severity === 'high' ? 'yellow' : 'dim';
  return output.style(style, escapeText(severity));
}

/** Returns who may answer, who asked the agent, and the agent, escaped. */
function factsOf(row: ApprovalSummary): string {
  const { agentName, callerUserId, callerName } = row;
  return [
    ...waitsFor(row),
    ...(callerUserId === null ? [] : [`asked by ${shownPerson(callerUserId, callerName)}`]),
    `agent ${agentName}`,
  ]
    .map((fact) => escapeText(fact))
    .join(' · ');
}

const mostNames = 3;

/** Returns who may answer, in a list of one text. The list is empty if the row had no room for the reviewers. */
function waitsFor({ reviewers }: ApprovalSummary): string[] {
  if (reviewers === undefined) return [];
  if (reviewers.length === 0) return ['anyone can answer'];
  const names = reviewers.slice(0, mostNames).map((each) => each.replace(/^group:/, 'group '));
  const more = reviewers.length - names.length;
  return [`waits for ${[...names, ...(more > 0 ? [`${more} more`] : [])].join(', ')}`];
}

/** Renders a new request for `run` and `worker`: the call, whether no channel has it, and the commands to answer it. */
export function renderWaiting(
  output: Output,
  row: Pick<ApprovalSummary, 'requestId' | 'toolName' | 'argumentNames' | 'shownArguments' | 'reason'> & {
    channels?: readonly string[];
  },
  options: CommonOptions,
): string {
  const what = `${escapeText(row.toolName)}(${truncate(visibleLine(argumentsText(row)), 60)})`;
  return [
    `${output.style('yellow', 'waiting for approval:')} ${what}: ${escapeText(row.reason)}`,
    ...(row.channels?.length === 0 ? ['  no channel carries it: only the inbox has it'] : []),
    `  look:    ${nextCommand(options, 'approvals', 'show', row.requestId)}`,
    `  answer:  ${nextCommand(options, 'approve', row.requestId)}   or   ${nextCommand(options, 'deny', row.requestId)}`,
  ].join('\n');
}

/** Returns a command about a request. To save a look-up, it names the run, unless escaping changes the run's id. */
export function escapedCommand(options: CommonOptions, verb: string, requestId: string, workflowId: string): string {
  const run = escapeText(workflowId) === workflowId ? ['--run', workflowId] : [];
  return nextCommand(options, verb, escapeText(requestId), ...run);
}

export function leftOf(deadline: string, nowMs: number): string {
  const leftMs = Date.parse(deadline) - nowMs;
  return Number.isNaN(leftMs) ? '?' : timeLeft(leftMs);
}
