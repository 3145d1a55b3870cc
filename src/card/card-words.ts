import { instantText, leftText, type ReaderClock } from '../text/instant-text.ts';
import type { AnswerName, Card, CardChange, CardField, CardRow, CardText } from './card.ts';
import { countedNoun } from './cut-text.ts';

export const headings = {
  arguments: 'Arguments',
  notShown: 'Not shown',
  changes: 'What would change',
  why: 'Why you are asked',
  who: 'Where it comes from',
  words: 'What the model or its user wrote (not checked)',
  time: 'Time',
  settled: 'How it was settled',
  answers: 'What each answer does',
  raw: 'The raw call',
} as const;

export const answerLabels: Record<AnswerName, string> = {
  approve: 'Approve',
  deny: 'Deny',
  always: 'Always',
  edit: 'Edit',
  respond: 'Respond',
  nobody: 'No answer',
};

export function whyOf({ reason, why }: Card): CardRow[] {
  return [{ label: 'Reason', texts: [reason] }, ...why];
}

/** A field's title and name, such as `Recipient (to)`. */
export function fieldLabel({ title, name }: CardField): string {
  return saysName(title, name) ? (title ?? name) : `${title} (${name})`;
}

/** True if there is no title, or if the title differs from the name only in capitals. */
export function saysName(title: string | undefined, name: string): boolean {
  return title === undefined || title.toLowerCase() === name.toLowerCase();
}

/** The note beside a value, such as `1,200.50 EUR`. Empty if the value is readable without a note. */
export function fieldNote({ reading = '' }: CardField): string {
  return reading;
}

/** All warnings. The warning about cut parts is the last. */
export function cardWarnings({ warnings, cut, settled }: Card): string[] {
  if (cut === undefined) return warnings;
  return [...warnings, settled === undefined ? `${cut.slice(0, -1)}, so you cannot approve it for later calls.` : cut];
}

/** The note in place of the arguments of a card that has none; otherwise empty. */
export function argumentsNote({ arguments: fields, notShown }: Card): string {
  return fields.length === 0 && notShown.length === 0 ? 'none' : '';
}

/** The heading of a change, such as `config.yaml changes: 3 lines added, 1 line removed`. */
export function changeTitle(change: CardChange): string {
  if (change.kind === 'table') return `${change.name}: ${change.totals.join('; ') || 'no rows'}`;
  const { name, what, added, removed } = change;
  const counts = [
    ...(added === 0 ? [] : [`${countedNoun(added, 'line')} added`]),
    ...(removed === 0 ? [] : [`${countedNoun(removed, 'line')} removed`]),
  ];
  return `${name} ${what}${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`;
}

export function changeRest(change: CardChange): string {
  const [hidden, noun] = change.kind === 'table' ? [change.hiddenRows, 'row'] : [change.hiddenLines, 'line'];
  return hidden === 0 ? '' : `${countedNoun(hidden, `more ${noun}`)} hidden`;
}

export const diffMarks = { same: ' ', removed: '-', added: '+', place: '' } as const;

/** The note about a preview that shows no changes; undefined if it shows some, or if there is no preview. */
export function previewNote({ preview }: Card): { text: string; message?: string } | undefined {
  if (preview === undefined) return undefined;
  if (preview.state === 'pending') return { text: 'The tool is still working out what would change.' };
  if (preview.state === 'failed') {
    return { text: 'The tool could not say what would change:', message: preview.message.text };
  }
  return preview.changes.length === 0 ? { text: 'The tool says that nothing would change.' } : undefined;
}

/** The times of a request, as consecutive parts. `at`: an instant (ISO 8601) that follows the part's text. */
export function timeParts({ time: { requestedAt, deadline, left } }: Card): { text: string; at?: string }[] {
  return [
    deadline === null ? { text: 'no deadline' } : { text: 'until ', at: deadline },
    ...(deadline === null || left === undefined ? [] : [{ text: ` (${leftText(left)})` }]),
    ...(requestedAt === '' ? [] : [{ text: ', asked ', at: requestedAt }]),
  ];
}

export function timeNote(card: Card, clock: ReaderClock): string {
  return timeParts(card)
    .map(({ text, at }) => (at === undefined ? text : text + instantText(at, clock)))
    .join('');
}

/** Returns the card with the instants in its rows written for a reader with this clock. */
export function cardFor(card: Card, clock: ReaderClock): Card {
  const rowsFor = (rows: Card['why']): Card['why'] =>
    rows.map(({ label, texts }) => ({ label, texts: texts.map((each) => inWords(each, clock)) }));
  return { ...card, why: rowsFor(card.why), ...(card.settled !== undefined && { settled: rowsFor(card.settled) }) };
}

function inWords({ at, ...text }: CardText, clock: ReaderClock): CardText {
  if (at === undefined) return text;
  const before = text.text === '' ? '' : `${text.text}, `;
  return { ...text, text: before + instantText(at, clock) };
}
