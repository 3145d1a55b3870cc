import stringWidth from 'string-width';
import { formatDuration, escapeText } from 'countersign/base';
import { renderChanges } from '../answers/argument-changes.ts';
import { truncate } from '../base/fit-text.ts';
import type { Output } from '../base/output.ts';
import { leastSize } from './arming.ts';
import { breakLine, cardLines, type Styling } from './card-lines.ts';
import { skippedCount, cardStanding, waitingRows } from './card-state.ts';
import { footerLines, helpLines } from './footer.ts';
import type { OpenCard, ReviewState } from './review-state.ts';
import { scopeLines } from './scope-editor.ts';
import { shownField } from './text-field.ts';

/** What is on the screen: the body between head and foot can be longer than its place. */
export interface Layout {
  head: string[];
  /** All lines of the body, without the bar before them. */
  body: string[];
  /** Rows for the body. */
  height: number;
  /** The first line of the body that is shown. */
  scroll: number;
  foot: string[];
}

const mostNoticeLines = 3;
/** Before each line of the body: what a request says cannot pass for what this program says. */
const bar = '│ ';

/** The width of the body. */
export function bodyColumns({ size }: ReviewState): number {
  return size.columns - bar.length;
}

export function layoutOf(state: ReviewState, style: Styling): Layout {
  const { size } = state;
  const head = headLines(state, style);
  const body = bodyLines(state, bodyColumns(state), style);
  const { scroll: wanted } = scrolling(state);
  const keys = footerLines(state, style);
  const notice = noticeLines(state, style);
  const height = Math.max(1, size.rows - head.length - keys.length - notice.length - 1);
  const scroll = Math.max(0, Math.min(wanted, body.length - height));
  const foot = [placeLine(state, body.length, height, scroll, style), ...notice, ...keys];
  return { head, body, height, scroll, foot };
}

/** The lines of the whole screen. */
export function frameOf(state: ReviewState, style: Styling): string[] {
  const { columns, rows } = state.size;
  if (columns < leastSize.columns || rows < leastSize.rows) {
    return [truncate(`Make the window ${leastSize.columns}x${leastSize.rows} or larger.`, Math.max(1, columns))];
  }
  const { head, body, height, scroll, foot } = layoutOf(state, style);
  const shown = body.slice(scroll, scroll + height);
  const filled = [...shown, ...Array.from({ length: height - shown.length }, () => undefined)];
  const lines = filled.map((line) => (line === undefined ? '' : `${style('dim', bar.trimEnd())} ${line}`));
  return [...head, ...lines, ...foot];
}

/** What of the present view scrolls, and how much of it has been on the screen. */
export function scrolling({ card, dialog }: ReviewState): { scroll: number; seen: number } {
  if (dialog?.kind === 'changes') return dialog;
  if (dialog?.kind === 'arguments') {
    const line = dialog.field.characters.slice(0, dialog.field.at).filter((character) => character === '\n').length;
    return { scroll: Math.max(0, line - 3), seen: 0 };
  }
  if (dialog?.kind === 'scope') return { scroll: Math.max(0, dialog.editor.at - 3), seen: 0 };
  if (dialog?.kind === 'help' || card === undefined) return { scroll: 0, seen: 0 };
  return card;
}

function bodyLines(state: ReviewState, columns: number, style: Styling): string[] {
  const { card, dialog } = state;
  const broken = (lines: readonly string[]): string[] => lines.flatMap((line) => breakLine(line, columns));
  if (dialog?.kind === 'help') return broken(helpLines);
  if (card === undefined) return broken(emptyLines(state));
  if (dialog?.kind === 'scope') {
    const lines = scopeLines(dialog.editor, card.past, unlimitedNames(card));
    const tones = { chosen: 'bold', warning: 'yellow', quiet: 'dim' } as const;
    return lines.flatMap(({ text, tone }) =>
      breakLine(text, columns).map((line) => (tone === undefined ? line : style(tones[tone], line))),
    );
  }
  if (dialog?.kind === 'changes') {
    const plain = { style: (_format, text) => text } as Output;
    const lines = broken(renderChanges(plain, card.request?.arguments ?? {}, dialog.arguments).split('\n'));
    const colours: Record<string, 'red' | 'green'> = { '-': 'red', '+': 'green' };
    return lines.map((line) => (colours[line[0]!] === undefined ? line : style(colours[line[0]!]!, line)));
  }
  if (dialog?.kind === 'arguments') return broken(shownField(dialog.field));
  return cardLines(card, columns, style);
}

/** The arguments that the tool takes and this call does not have: a scope of globs does not limit them. */
function unlimitedNames({ request }: OpenCard): string[] {
  const properties = request?.schema?.['properties'];
  if (typeof properties !== 'object' || properties === null) return [];
  return Object.keys(properties).filter((name) => !Object.hasOwn(request!.arguments, name));
}

function emptyLines(state: ReviewState): string[] {
  if (!state.isListed) return ['Reading the list …'];
  const skipped = skippedCount(state);
  if (skipped === 0) return ['Nothing waits for approval. What comes is shown here.'];
  return [`Nothing else waits: you skipped ${skipped}. Press b to see ${skipped === 1 ? 'it' : 'them'} again.`];
}

function headLines(state: ReviewState, style: Styling): string[] {
  const { size, card, reviewer, arrived, outage, unread, isCut } = state;
  const others = waitingRows(state).filter(({ requestId }) => requestId !== card?.row.requestId).length;
  const skipped = skippedCount(state);
  const counts = [
    card === undefined ? undefined : timeText(card, state.nowMs),
    card === undefined
      ? undefined
      : others === 0
        ? 'nothing else waits'
        : `${others}${isCut ? '+' : ''} more ${others === 1 && !isCut ? 'waits' : 'wait'}`,
    skipped === 0 ? undefined : `${skipped} skipped`,
    reviewer === undefined ? undefined : `you are ${escapeText(reviewer)}`,
  ].filter((part) => part !== undefined);
  const news = [
    outage === undefined ? undefined : style('red', truncate(`No key counts: ${escapeText(outage)}`, size.columns)),
    card?.unanswered === undefined ? undefined : style('yellow', truncate(escapeText(card.unanswered), size.columns)),
    arrived === 0 ? undefined : style('yellow', `${arrived} new since you look at this one.`),
    unread === 0 ? undefined : style('yellow', `${unread} cannot be read here: countersign approvals says why.`),
  ].filter((part) => part !== undefined);
  const title = truncate(['review', ...counts].join(' · '), size.columns);
  return [style('bold', title), truncateStyled(news[0] ?? '', size.columns)];
}

function truncateStyled(line: string, columns: number): string {
  return stringWidth(line) <= columns ? line : truncate(line, columns);
}

function timeText(card: OpenCard, nowMs: number): string {
  const { deadline } = card.request ?? card.row;
  if (cardStanding(card, nowMs) === 'settled') return 'settled';
  if (deadline === null) return 'no deadline';
  const leftMs = Date.parse(deadline) - nowMs;
  return leftMs < 0 ? 'expired' : `${formatDuration(Math.ceil(leftMs / 1_000) * 1_000)} left`;
}

/** Which part of the body is on the screen. */
function placeLine(state: ReviewState, lines: number, height: number, scroll: number, style: Styling): string {
  if (lines <= height) return '';
  const last = Math.min(lines, scroll + height);
  const below = lines - last;
  const text = `lines ${scroll + 1} to ${last} of ${lines}${below === 0 ? '' : `; ${below} more below: space or PgDn`}`;
  return style(below === 0 ? 'dim' : 'yellow', truncate(text, state.size.columns));
}

/** At most three lines; a longer sentence is cut. */
function noticeLines({ notice, size }: ReviewState, style: Styling): string[] {
  if (notice === undefined) return [''];
  const lines = breakLine(notice.text, size.columns);
  const { tone } = notice;
  const shown =
    lines.length <= mostNoticeLines
      ? lines
      : [...lines.slice(0, mostNoticeLines - 1), `${lines[mostNoticeLines - 1]!.slice(0, -1)}…`];
  return tone === 'plain' ? shown : shown.map((line) => style(tone === 'good' ? 'green' : 'red', line));
}
