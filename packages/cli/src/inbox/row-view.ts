import { deadlineText, escapeText, instantText, terminalClock, visibleLine } from 'countersign/base';
import { undeliveredMessage } from 'countersign/card';
import type { ApprovalSummary } from 'countersign/client';
import { escapedCommand } from './approval-views.ts';
import type { CommonOptions } from '../base/command-line.ts';
import type { Output } from '../base/output.ts';
import { renderFields } from '../base/table.ts';

/** One request as the list knows it, without a worker: what is not shown is named. */
export function renderRow(output: Output, row: ApprovalSummary, options: CommonOptions, nowMs: number): string {
  const { requestId, workflowId, shown } = row;
  const unseen = shown === 'all' ? [] : ['--unseen'];
  return [
    rowFacts(output, row, nowMs),
    '',
    `approve:  ${[escapedCommand(options, 'approve', requestId, workflowId), ...unseen].join(' ')}`,
    `deny:     ${escapedCommand(options, 'deny', requestId, workflowId)}`,
  ].join('\n');
}

/** The same without the commands; without `nowMs`, without the time that is left. */
export function rowFacts(output: Output, row: ApprovalSummary, nowMs?: number): string {
  const { requestId, workflowId, deadline, rule, shown, shownArguments = {}, argumentNames, lineage = [] } = row;
  const { notShown = argumentNames } = row;
  const clock = terminalClock(nowMs);
  const until = (instant: string): string =>
    nowMs === undefined ? instantText(instant, clock) : deadlineText(instant, nowMs, clock);
  const values = Object.entries(shownArguments).map(([name, text]): [string, string] => [
    escapeText(name),
    visibleLine(text),
  ]);
  return [
    renderFields(output, [
      ['request', escapeText(requestId)],
      ['run', escapeText(workflowId)],
      ['called by', lineage.map(escapeText).join(' > ')],
      ['agent', escapeText(row.agentName)],
      ['tool', output.style('bold', escapeText(row.toolName))],
      ['risk', `${escapeText(row.riskLevel)} (severity ${escapeText(row.severity)})`],
      ['rule', rule === null ? 'none: a risk default asks' : escapeText(rule)],
      ['reason', escapeText(row.reason)],
      ['caller', row.callerUserId === null ? undefined : escapeText(row.callerUserId)],
      ['asked', instantText(row.requestedAt, clock)],
      ['deadline', deadline === null ? 'none' : until(deadline)],
      ['digest', escapeText(row.digest)],
      ['channels', row.undelivered === true ? output.style('yellow', undeliveredMessage) : undefined],
    ]),
    '',
    output.style('dim', 'arguments'),
    ...(values.length === 0 ? [] : [renderFields(output, values)]),
    ...(shown === 'all' ? [] : [`not shown in full: ${notShown.map(escapeText).join(', ')}`]),
  ].join('\n');
}
