import { escapeText, terminalClock, deadlineText, instantText, visibleLine } from 'countersign/base';
import type { Grant, ApprovalDetails, ApprovalSummary } from 'countersign/client';
import stringWidth from 'string-width';
import { type Card, cardOf, renderTerminal, undeliveredMessage } from 'countersign/card';
import { escapedCommand } from './approval-views.ts';
import type { CommonOptions } from '../base/command-line.ts';
import type { Output } from '../base/output.ts';
import { renderFields } from '../base/table.ts';

/** Returns the scope of a grant in a few words, escaped. */
export function scopeText(scope: Grant['scope']): string {
  if (scope.kind === 'tool') return 'any call';
  if (scope.kind === 'call') return `this call (digest ${escapeText(scope.digest.slice(0, 12))}…)`;
  return Object.entries(scope.match)
    .map(([field, glob]) => `${escapeText(field)}=${escapeText(glob)}`)
    .join(', ');
}

/** Options of `renderCard`. `all`: cuts nothing, and shows the raw call. `grants`: what an "always" has granted. */
export interface CardView {
  nowMs: number;
  all?: boolean;
  grants?: readonly Grant[];
}

/** Renders a request as a card. Below it are the grants or, for an open request, the commands that answer it. */
export function renderCard(
  output: Output,
  request: ApprovalDetails,
  options: CommonOptions,
  { nowMs, all = false, grants = [] }: CardView,
): string {
  const { requestId, workflowId, settled } = request;
  const shown = cardOf(request, { nowMs, all, always: request.always?.widest ?? false });
  const card = cardText(output, shown, { nowMs, all, seeAll: '--all shows it' });
  const leftBehind = grants.map(({ grantId, scope }) => `left behind: ${escapeText(grantId)}: ${scopeText(scope)}`);
  const answers = [
    `approve:  ${escapedCommand(options, 'approve', requestId, workflowId)}`,
    `deny:     ${escapedCommand(options, 'deny', requestId, workflowId)}`,
  ];
  const sections = [leftBehind, settled === undefined ? answers : []].filter((lines) => lines.length > 0);
  return [card, ...sections.flatMap((lines) => ['', ...lines])].join('\n');
}

/** Renders only the card. With `all`, adds the raw call. `seeAll` says how to see what is cut or left out. */
export function cardText(
  output: Output,
  card: Card,
  { nowMs, all, seeAll }: { nowMs: number; all: boolean; seeAll: string },
): string {
  return renderTerminal(card, {
    width: output.width,
    style: (style, text) => output.style(style, text),
    columnsOf: stringWidth,
    seeAll,
    raw: all,
    clock: terminalClock(nowMs),
  });
}

/** Renders a request by its row in the list, with the commands that answer it: with --unseen if not all is shown. */
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

/** Renders what the list knows of a request. Without `nowMs`, the deadline is shown without the time that is left. */
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
      ['rule', rule === null ? 'none' : escapeText(rule)],
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
