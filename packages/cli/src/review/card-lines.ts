import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { terminalClock } from 'countersign/base';
import { cardOf, headings, renderTerminal, wrapText, cardDigest, chosenScope, type Card } from 'countersign/card';
import type { Output } from '../base/output.ts';
import { rowFacts } from '../inbox/row-view.ts';
import type { OpenCard } from './review-state.ts';

/** Colours a text, if the terminal has colours. */
export type Styling = Output['style'];

/** Breaks a text into lines of so many columns. */
export function breakLine(text: string, columns: number): string[] {
  return wrapText(text, columns, stringWidth);
}

/** The lines of the card, none wider than `columns`. */
export function cardLines(open: OpenCard, columns: number, style: Styling): string[] {
  const { row, request, unanswered, unfolded } = open;
  if (request === undefined) {
    if (unanswered === undefined) return ['Reading the request …'];
    const plain = { style: (_, text) => text, width: columns } as Output;
    return rowFacts(plain, row)
      .split('\n')
      .flatMap((line) => breakLine(line, columns));
  }
  return remembered(request, `${columns} ${unfolded}`, () => {
    const seeAll = 'v shows it';
    return renderTerminal(shownCard(open)!, {
      width: columns,
      style,
      columnsOf: stringWidth,
      seeAll,
      raw: unfolded,
      clock: terminalClock(),
    }).split('\n');
  });
}

/**
 * How many lines of the card a person must have seen to approve the call: what it does and why it is asked about. What
 * follows, such as the words of the model and what each answer does, may stay below.
 */
export function requiredLines(open: OpenCard, columns: number, style: Styling): number {
  const all = cardLines(open, columns, style).map((line) => stripVTControlCharacters(line));
  // The last such line is the card's own: after it, texts from elsewhere have a label or a bar before them.
  const end = all.lastIndexOf(headings.who);
  return end === -1 ? all.length : end;
}

/** The card as it is shown; undefined if the request cannot be read from its run. */
function shownCard({ request, unfolded }: OpenCard): Card | undefined {
  return request === undefined ? undefined : cardOf(request, { all: unfolded, always: chosenScope(request.always) });
}

/** True if every argument can be read in full on the card as it is shown. */
export function showsWhole(open: OpenCard): boolean {
  const { row, request, unfolded } = open;
  if (request === undefined) return row.shown === 'all';
  if (request.shown !== 'all') return false;
  return unfolded || shownCard(open)!.whole;
}

/** The digest of what is shown. */
export function shownDigest(open: OpenCard): string | undefined {
  const card = shownCard(open);
  return card === undefined ? undefined : cardDigest(card);
}

/** The lines of a request, by width: they are drawn many times a second, and arguments may be large. */
const lines = new WeakMap<object, Map<string, string[]>>();

function remembered(request: object, key: string, make: () => string[]): string[] {
  const known = lines.get(request) ?? new Map<string, string[]>();
  lines.set(request, known);
  const made = known.get(key) ?? make();
  known.set(key, made);
  return made;
}
