import stringWidth from 'string-width';
import { escapeText, terminalClock } from 'countersign/base';
import { type Card, cardOf, renderTerminal } from 'countersign/card';
import type { ApprovalDetails, Grant } from 'countersign/client';
import { escapedCommand } from './approval-views.ts';
import type { CommonOptions } from '../base/command-line.ts';
import { scopeText } from './scope-text.ts';
import type { Output } from '../base/output.ts';

/** `all`: nothing is cut, and the raw call is shown. `grants`: those that the decision made. */
export interface CardView {
  nowMs: number;
  all?: boolean;
  grants?: readonly Grant[];
}

/** The card of one request for a terminal, and the commands that answer it. */
export function renderCard(
  output: Output,
  request: ApprovalDetails,
  options: CommonOptions,
  { nowMs, all = false, grants = [] }: CardView,
): string {
  const { requestId, workflowId, settled } = request;
  const shown = cardOf(request, { nowMs, all, always: request.always?.widest ?? false });
  const card = cardText(output, shown, { nowMs, all, seeAll: '--all shows it' });
  const left = grants.map(({ grantId, scope }) => `left behind: ${escapeText(grantId)}: ${scopeText(scope)}`);
  const answers =
    settled !== undefined
      ? []
      : [
          `approve:  ${escapedCommand(options, 'approve', requestId, workflowId)}`,
          `deny:     ${escapedCommand(options, 'deny', requestId, workflowId)}`,
        ];
  return [card, ...[left, answers].flatMap((lines) => (lines.length === 0 ? [] : ['', ...lines]))].join('\n');
}

/** The card alone. `all`: with the raw call; else `seeAll` says what shows it. */
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
