import { formatTimeLeft, escapeText, visibleLine } from 'countersign/base';
import { argumentsText, undeliveredMessage } from 'countersign/card';
import type { ApprovalList, UnreadRun, ApprovalSummary } from 'countersign/client';
import type { CommonOptions } from '../base/command-line.ts';
import { nextCommand } from '../base/command-line.ts';
import { truncate } from '../base/fit-text.ts';
import type { Output } from '../base/output.ts';
import { shortIds } from '../base/request-id.ts';
import { renderTable } from '../base/table.ts';

/** The open requests, and the runs whose requests cannot be read. */
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

/** The rows that no channel could deliver yet. */
function undeliveredLines(output: Output, rows: ApprovalSummary[]): string[] {
  const short = shortIds(rows.map(({ requestId }) => requestId));
  const ids = rows.filter(({ undelivered }) => undelivered).map(({ requestId }) => escapeText(short(requestId)));
  return ids.length === 0 ? [] : [output.style('yellow', `${undeliveredMessage}: ${ids.join(', ')}`)];
}

/** Which of the rows no votes can approve, and why. */
function impossibleLines(output: Output, rows: ApprovalSummary[]): string[] {
  const short = shortIds(rows.map(({ requestId }) => requestId));
  return rows.flatMap(({ requestId, cannotBeApproved: why }) =>
    why === undefined ? [] : [output.style('yellow', escapeText(`${short(requestId)}: ${why}`))],
  );
}

export function unreadText({ requestIds, message }: UnreadRun): string {
  return escapeText(`${requestIds.join(', ')}: ${message}`);
}

/** Open requests as a table, earliest deadline first. */
export function renderApprovals(output: Output, rows: ApprovalSummary[], nowMs: number): string {
  const short = shortIds(rows.map(({ requestId }) => requestId));
  return renderTable(
    output,
    ['REQUEST', 'TOOL', 'ARGUMENTS', 'RISK', 'LEFT', 'AGENT', 'RUN'],
    rows.map((row) => [
      escapeText(short(row.requestId)),
      escapeText(row.toolName),
      visibleLine(argumentsText(row)),
      escapeText(row.riskLevel),
      row.deadline === null ? 'no limit' : timeLeft(row.deadline, nowMs),
      escapeText(row.agentName),
      escapeText(row.workflowId),
    ]),
    { whole: ['REQUEST', 'RUN'] },
  );
}

/** One open request and the commands to show and answer it, for the progress of a run or worker. */
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

/** Includes the run's id, which saves a look-up, unless escaping would change the id. */
export function escapedCommand(options: CommonOptions, verb: string, requestId: string, workflowId: string): string {
  const run = escapeText(workflowId) === workflowId ? ['--run', workflowId] : [];
  return nextCommand(options, verb, escapeText(requestId), ...run);
}

export function timeLeft(deadline: string, nowMs: number): string {
  const leftMs = Date.parse(deadline) - nowMs;
  return Number.isNaN(leftMs) ? '?' : formatTimeLeft(leftMs);
}
