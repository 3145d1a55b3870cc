import type { ApprovalDetails } from '../../contract.ts';
import type { ApprovalSummary } from '../../core/approval-index.ts';
import { formatDuration } from '../../core/duration.ts';
import { escapeJson, escapeText } from '../../core/escape-text.ts';
import type { CommonOptions } from './command-line.ts';
import { nextCommand } from './command-line.ts';
import type { Output } from './output.ts';
import { renderFields, renderTable } from './table.ts';

/** Open requests as a table, earliest deadline first. */
export function renderApprovals(output: Output, rows: ApprovalSummary[], nowMs: number): string {
  return renderTable(
    output,
    ['REQUEST', 'TOOL', 'ARGUMENTS', 'RISK', 'LEFT', 'AGENT', 'RUN'],
    rows.map((row) => [
      escapeText(row.requestId),
      escapeText(row.toolName),
      shorten(escapeText(row.argumentNames.join(', ')), 30),
      escapeText(row.riskLevel),
      row.deadline === null ? 'no limit' : timeLeft(row.deadline, nowMs),
      shorten(escapeText(row.agentName), 20),
      escapeText(row.workflowId),
    ]),
  );
}

/** One request with its full arguments, and how to answer it. */
export function renderApproval(
  output: Output,
  request: ApprovalDetails,
  options: CommonOptions,
  nowMs: number,
): string {
  const { requestId, workflowId, settled, deadline } = request;
  const text = (value: string | null): string | undefined => (value === null ? undefined : escapeText(value));
  const fields = renderFields(output, [
    ['request', text(requestId)],
    ['run', text(workflowId)],
    ['agent', text(request.agentName)],
    ['tool', output.style('bold', escapeText(request.toolName))],
    ['risk', `${escapeText(request.riskLevel)} (severity ${escapeText(request.assessment.severity)})`],
    ['rule', request.rule === null ? 'none: a risk default asks' : text(request.rule)],
    ['reason', text(request.reason)],
    ['caller', text(request.callerUserId)],
    ['context', text(request.contextSummary)],
    ['asked', text(request.requestedAt)],
    ['deadline', deadline === null ? 'none' : `${escapeText(deadline)} (${timeLeft(deadline, nowMs)})`],
    ['digest', text(request.digest)],
    ...(settled === undefined
      ? []
      : ([
          ['settled', `${escapeText(settled.outcome)} at ${escapeText(settled.settledAt)}`],
          ['by', text(settled.reviewerId ?? null)],
          ['because', text(settled.reason ?? null)],
        ] as [string, string | undefined][])),
  ]);
  const answers =
    settled !== undefined
      ? []
      : [
          '',
          `approve:  ${escapedCommand(options, 'approve', requestId, workflowId)}`,
          `deny:     ${escapedCommand(options, 'deny', requestId, workflowId)}`,
        ];
  return [fields, '', output.style('dim', 'arguments'), escapeJson(request.arguments, 2), ...answers].join('\n');
}

/** What waits, in one line, for the progress of a run. */
export function renderWaiting(output: Output, row: ApprovalSummary, options: CommonOptions): string {
  const what = `${escapeText(row.toolName)}(${shorten(escapeText(row.argumentNames.join(', ')), 60)})`;
  return [
    `${output.style('yellow', 'waiting for approval:')} ${what}: ${escapeText(row.reason)}`,
    `  look:    ${nextCommand(options, 'approvals', 'show', row.requestId)}`,
    `  answer:  ${nextCommand(options, 'approve', row.requestId)}   or   ${nextCommand(options, 'deny', row.requestId)}`,
  ].join('\n');
}

/** With the run's id, which spares the look-up, unless showing it would change it. */
function escapedCommand(options: CommonOptions, verb: string, requestId: string, workflowId: string): string {
  const run = escapeText(workflowId) === workflowId ? ['--run', workflowId] : [];
  return nextCommand(options, verb, escapeText(requestId), ...run);
}

function timeLeft(deadline: string, nowMs: number): string {
  const leftMs = Date.parse(deadline) - nowMs;
  if (Number.isNaN(leftMs)) return '?';
  return leftMs < 0 ? 'passed' : formatDuration(Math.ceil(leftMs / 1_000) * 1_000);
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
