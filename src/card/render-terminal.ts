import { escapeJson, escapeText } from '../core/base/text.ts';
import type { ReaderClock } from '../text/instant-text.ts';
import { visibleEscape } from '../text/visible-text.ts';
import type { Card, CardChange, CardField, CardRow, CardText, DiffLine } from './card.ts';
import * as cardWords from './card-words.ts';
import { hiddenNote, wrapText } from './cut-text.ts';
import { tableText } from './card-change.ts';

export type CardStyle = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'inverse';

export interface TerminalOptions {
  /** The width of the terminal, in columns. Default: lines are not broken. */
  width?: number;
  /** Styles a text. Default: no styles. */
  style?: (style: CardStyle, text: string) => string;
  /** Returns how many columns a text takes. Default: one for each character. */
  columnsOf?: (text: string) => number;
  /** A note that says how to see hidden parts, such as `--all shows it`. */
  seeAll?: string;
  /** True: the raw call is shown. Default: a line says how to see it, with `seeAll`. */
  raw?: boolean;
  /** The reader's clock. Default: UTC, with dates. */
  clock?: ReaderClock;
}

type Terminal = Required<TerminalOptions>;

const gap = '  ';
const gutter = '│ ';
/** Marks the second and later lines of a value that is too long for one line of the terminal. */
const brokenGutter = '┆ ';
/** Begins the card's note about a value. No line of a value can begin with this mark. */
const noteMark = '↳ ';

/** Renders a card as lines of plain text. No text from the request can look like another part of the card. */
export function renderTerminal(shown: Card, options: TerminalOptions = {}): string {
  const read = cardWords.cardFor(shown, options.clock ?? {});
  const card = { ...withJoinersEscaped(read, escapeText), raw: withJoinersEscaped(shown.raw, jsonEscapes) };
  const terminal: Terminal = {
    width: Infinity,
    style: (_style, text) => text,
    columnsOf: (text) => Array.from(text).length,
    seeAll: 'the raw call shows it',
    raw: false,
    clock: {},
    ...options,
  };
  const { style } = terminal;
  const note = cardWords.argumentsNote(card);
  const answers = card.answers.map(({ name, effect }) => ({
    label: cardWords.answerLabels[name],
    texts: [{ text: effect }],
  }));
  const warnings = cardWords
    .cardWarnings(card)
    .flatMap((each) => indented(terminal, '! ', each).map((line) => style('yellow', marked(terminal, line))));
  const sections: [heading: string, lines: string[]][] = [
    [cardWords.headings.arguments, note === '' ? fieldLines(terminal, card) : [style('dim', note)]],
    [cardWords.headings.changes, changeLines(terminal, card)],
    [cardWords.headings.why, rowLines(terminal, cardWords.whyOf(card))],
    [cardWords.headings.who, rowLines(terminal, card.who)],
    [cardWords.headings.words, card.words === undefined ? [] : blockLines(terminal, card.words)],
    [cardWords.headings.time, wrapText(cardWords.timeNote(card, terminal.clock), terminal.width, terminal.columnsOf)],
    [cardWords.headings.settled, rowLines(terminal, card.settled ?? [])],
    [cardWords.headings.answers, rowLines(terminal, answers)],
    [cardWords.headings.raw, rawLines(terminal, card)],
  ];
  const title = textLines(terminal, card.sentence, terminal.width).map((line) => style('bold', line));
  return [
    ...title,
    ...warnings,
    ...sections.flatMap(([heading, lines]) => (lines.length === 0 ? [] : ['', style('bold', heading), ...lines])),
  ].join('\n');
}

/** Escapes joiners (U+200C, U+200D), which are invisible in terminals that draw each letter separately. */
function withJoinersEscaped<Value>(value: Value, escape: (text: string) => string): Value;
function withJoinersEscaped(value: unknown, escape: (text: string) => string): unknown {
  if (typeof value === 'string') return value.replaceAll(/[\u200c\u200d]\p{M}*/gu, escape);
  if (Array.isArray(value)) return value.map((each) => withJoinersEscaped(each, escape));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withJoinersEscaped(each, escape)]));
}

function jsonEscapes(text: string): string {
  return escapeJson(text).slice(1, -1);
}

/** Renders the fields, and the names of the hidden ones, beside one column of labels. */
function fieldLines(terminal: Terminal, { arguments: fields, notShown }: Card): string[] {
  const hidden =
    notShown.length === 0 ? [] : [{ label: cardWords.headings.notShown, texts: [{ text: notShown.join(', ') }] }];
  const width = labelWidth(terminal, [...fields.map(cardWords.fieldLabel), ...hidden.map(({ label }) => label)]);
  return [
    ...fields.flatMap((field) => linesOfField(terminal, field, width)),
    ...hidden.flatMap((each) => linesOfRow(terminal, each, width)),
  ];
}

/** Puts a value and its notes beside the field's label. A value of several lines comes below, as a block. */
function linesOfField(terminal: Terminal, field: CardField, labelColumns: number): string[] {
  const { value, description } = field;
  const notes = [cardWords.fieldNote(field), description ?? ''].filter((text) => text !== '');
  const isBlock = value.text.includes('\n') || value.end?.includes('\n') === true;
  const room = terminal.width - labelColumns - gap.length;
  const shown = isBlock ? [] : valueLines(terminal, value, room);
  const noteLines = notes.flatMap((text) =>
    indented({ ...terminal, width: room }, noteMark, text).map((line) => terminal.style('dim', line)),
  );
  const lines = besideLabel(terminal, cardWords.fieldLabel(field), [...shown, ...noteLines], labelColumns);
  return isBlock ? [...lines, ...blockLines(terminal, value)] : lines;
}

/** Breaks a value into lines and marks the continued ones, so that none can be taken for a note of the card. */
function valueLines(terminal: Terminal, value: CardText, columns: number): string[] {
  const [first = '', ...rest] = textLines(terminal, value, columns - brokenGutter.length);
  return [first, ...rest.map((line) => terminal.style('dim', brokenGutter) + line)];
}

function rowLines(terminal: Terminal, rows: readonly CardRow[]): string[] {
  const labels = rows.map(({ label }) => label);
  const width = labelWidth(terminal, labels);
  return rows.flatMap((each) => linesOfRow(terminal, each, width));
}

function linesOfRow(terminal: Terminal, { label, texts }: CardRow, labelColumns: number): string[] {
  const room = terminal.width - labelColumns - gap.length;
  const lines = texts.flatMap((text) => textLines(terminal, text, room));
  return besideLabel(terminal, label, lines, labelColumns);
}

/** Returns the width of the column of labels: that of the widest label, but at most a third of the terminal or 8. */
function labelWidth({ width, columnsOf }: Terminal, labels: readonly string[]): number {
  const widest = labels.reduce((most, label) => Math.max(most, columnsOf(label)), 0);
  return width === Infinity ? widest : Math.min(widest, Math.max(8, Math.floor(width / 3)));
}

/** Puts lines beside a label, or below it if it is wider than its column. Without lines, returns only the label. */
function besideLabel(
  { columnsOf, style, width }: Terminal,
  label: string,
  lines: string[],
  labelColumns: number,
): string[] {
  const margin = ' '.repeat(labelColumns) + gap;
  const isTooWide = columnsOf(label) > labelColumns;
  if (isTooWide || lines.length === 0) {
    const labelLines = isTooWide ? wrapText(label, width, columnsOf) : [label];
    const styled = labelLines.map((line) => style('dim', lines.length === 0 ? line.trimEnd() : line));
    return [...styled, ...lines.map((line) => margin + line)];
  }
  const padded = style('dim', label + ' '.repeat(labelColumns - columnsOf(label)));
  return lines.map((line, index) => (index === 0 ? padded + gap : margin) + line);
}

function textLines(terminal: Terminal, text: CardText, columns: number): string[] {
  return wrapText(inline(terminal, text), columns, terminal.columnsOf).map((line) => marked(terminal, line));
}

function inline({ seeAll }: Terminal, text: CardText): string {
  if (text.hidden === undefined) return text.text;
  return `${text.text} … ${hiddenNote(text).replace(']', `; ${seeAll}]`)} … ${text.end ?? ''}`;
}

function marked({ style }: Terminal, line: string): string {
  return line.replace(visibleEscape, (each) => style('inverse', each));
}

function indented({ width, columnsOf }: Terminal, first: string, text: string): string[] {
  const lines = wrapText(text, width - first.length, columnsOf);
  return lines.map((line, index) => (index === 0 ? first : ' '.repeat(first.length)) + line);
}

/** Puts a bar beside each line of a value, so that none can be taken for a line of the card. */
function blockLines(terminal: Terminal, text: CardText): string[] {
  const { seeAll, style } = terminal;
  const start = text.text.split('\n').flatMap((line) => gutterLines(terminal, line));
  if (text.hidden === undefined) return start;
  const end = (text.end ?? '').split('\n').flatMap((line) => gutterLines(terminal, line));
  return [...start, style('yellow', `… ${hiddenNote(text).slice(1, -1)}; ${seeAll}`), ...end];
}

/** Breaks a line of a value, which has this style, at the terminal's width. Each part has a bar, later ones another. */
function gutterLines(terminal: Terminal, line: string, style: (text: string) => string = (text) => text): string[] {
  const { columnsOf, width } = terminal;
  const parts = wrapText(withoutTabs(line), width - gutter.length, columnsOf, { keepsSpaces: true });
  return parts.map((part, index) => {
    const mark = terminal.style('dim', index === 0 ? gutter : brokenGutter);
    return mark + style(marked(terminal, part));
  });
}

/** Replaces each tab by the blanks up to the next multiple of four. */
function withoutTabs(line: string): string {
  return line.split('\t').reduce((text, part) => text + ' '.repeat(4 - (text.length % 4)) + part);
}

/** Renders the changes of a preview, or the note in their place; none without a preview. */
function changeLines(terminal: Terminal, card: Card): string[] {
  const note = cardWords.previewNote(card);
  if (note !== undefined) {
    const message = note.message === undefined ? [] : gutterLines(terminal, note.message);
    return [...wrapText(note.text, terminal.width, terminal.columnsOf), ...message];
  }
  if (card.preview?.state !== 'ready') return [];
  return card.preview.changes.flatMap((change) => {
    const rest = cardWords.changeRest(change);
    return [
      ...wrapText(cardWords.changeTitle(change), terminal.width, terminal.columnsOf).map((line) =>
        marked(terminal, line),
      ),
      ...(change.kind === 'table'
        ? tableLines(terminal, change)
        : change.lines.flatMap((line) => diffLine(terminal, line))),
      ...(rest === '' ? [] : [terminal.style('yellow', `… ${rest}; ${terminal.seeAll}`)]),
    ];
  });
}

function diffLine(terminal: Terminal, { kind, text }: DiffLine): string[] {
  const colour = { same: undefined, removed: 'red', added: 'green', place: 'dim' } as const;
  const style = colour[kind];
  const line = cardWords.diffMarks[kind] + inline(terminal, text);
  return gutterLines(terminal, line, (part) => (style === undefined ? part : terminal.style(style, part)));
}

function tableLines(terminal: Terminal, change: CardChange & { kind: 'table' }): string[] {
  const styles = { head: 'bold', same: 'dim', removed: 'red', added: 'green', changed: 'yellow' } as const;
  return tableText(change, terminal.columnsOf).flatMap(({ kind, text }) =>
    gutterLines(terminal, text, (part) => terminal.style(styles[kind], part)),
  );
}

function rawLines(terminal: Terminal, { raw }: Card): string[] {
  if (raw === '') return [];
  return terminal.raw ? gutterLines(terminal, raw) : [terminal.seeAll];
}
