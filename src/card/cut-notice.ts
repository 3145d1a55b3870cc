/** What a card does not show of its request, in one sentence. */
import { type Card, type CardChange, type CardRequest, type CardText, isCut } from './card.ts';
import type { ArgumentFields } from './argument-fields.ts';
import { isChangeNameCut } from './card-change.ts';
import { type CardBounds, countedCharacters, countedNoun, grouped } from './cut-text.ts';

/** The most parts that the sentence names. */
const mostParts = 3;

/** The sentence about what is cut, left out or withheld; undefined if all of the call is shown. */
export function cutNotice(
  { sentence, arguments: fields, preview }: Pick<Card, 'sentence' | 'arguments' | 'preview'>,
  { left, isNameCut }: ArgumentFields,
  { shown, preview: given }: CardRequest,
  bounds: CardBounds,
): string | undefined {
  const changes = preview?.state === 'ready' ? preview.changes : [];
  const hasCutName = given?.state === 'ready' && given.changes.some((change) => isChangeNameCut(change, bounds));
  const parts = [
    ...(isCut(sentence) ? [`${charactersShown(sentence)} of the sentence`] : []),
    ...fields.flatMap(({ name, value }) => (isCut(value) ? [`${charactersShown(value)} of '${name}'`] : [])),
    ...(left === 0 ? [] : [`${shownOf(fields.length, left, 'value')} of the arguments`]),
    ...changes.flatMap(partOfChange),
    ...(isNameCut || hasCutName ? ['parts of long names'] : []),
  ];
  if (parts.length > 0) return `Only ${listed(parts)} are shown.`;
  const isWithheld = shown !== 'all' || (given?.state === 'ready' && given.cut !== undefined);
  return isWithheld ? 'Part of this request is hidden.' : undefined;
}

function partOfChange(change: CardChange): string[] {
  if (change.kind === 'table') {
    const { name, rows, hiddenRows, cutCells } = change;
    if (hiddenRows > 0) return [`${shownOf(rows.length, hiddenRows, 'row')} of '${name}'`];
    return cutCells > 0 ? [`parts of ${countedNoun(cutCells, 'cell')} of '${name}'`] : [];
  }
  const { name, lines, hiddenLines } = change;
  if (hiddenLines > 0) return [`${shownOf(lines.length, hiddenLines, 'line')} of '${name}'`];
  const cut = lines.filter(({ text }) => isCut(text)).length;
  return cut > 0 ? [`parts of ${countedNoun(cut, 'line')} of '${name}'`] : [];
}

function charactersShown(text: CardText): string {
  return shownOf(countedCharacters(text), text.hidden ?? 0, 'character');
}

function shownOf(shown: number, hidden: number, noun: string): string {
  return `${grouped(String(shown))} of ${countedNoun(shown + hidden, noun)}`;
}

function listed(parts: readonly string[]): string {
  const rest = parts.length - mostParts;
  if (rest > 0) return `${parts.slice(0, mostParts).join(', ')} and parts of ${rest} more`;
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)!}`;
}
