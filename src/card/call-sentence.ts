import { nameWords } from '../assess/finding.ts';
import type { ApprovalSummary } from '../core/ledger/approval-index.ts';
import { visibleLine, visibleText } from '../text/visible-text.ts';
import type { Card, CardField, CardRequest, SentencePart } from './card.ts';
import { cardBounds, type CardBounds, cutInline, cutLine, wholeText } from './cut-text.ts';

const longestValue = 60;

const mostValues = 3;

/** Returns the tool's sentence, or one such as `Refund: order o-17`. `left`: how many values lack a field, if known. */
export function cardSentence(
  { sentence, toolName }: Pick<CardRequest, 'toolName' | 'sentence'>,
  fields: readonly CardField[],
  bounds: CardBounds,
  left: number | 'some',
): Card['sentence'] {
  if (sentence !== undefined && sentence.trim() !== '') return { ...cutLine(sentence, bounds.sentence), by: 'tool' };
  const named = namedValues(fields.filter((field) => !isShownCurrency(field, fields)));
  const topLevelFirst = named.toSorted((one, other) => one.depth - other.depth);
  // Do not leave out a single value: the words "and 1 more" take as much room.
  const isOneOver = left === 0 && named.length === mostValues + 1;
  const values = topLevelFirst.slice(0, isOneOver ? named.length : mostValues);
  const more = left === 'some' ? 'and more' : moreText(named.length - values.length + left);
  const moreParts = more === '' ? [] : [{ kind: 'more' as const, text: more }];
  const valueParts = values.flatMap(({ name, value }): SentencePart[] => [
    { kind: 'name', text: name },
    { kind: 'value', text: value },
  ]);
  const title = titleOf(toolName);
  const phrases = [...values.map(({ name, value }) => `${name} ${value}`), ...moreParts.map(({ text }) => text)];
  const text = phrases.length === 0 ? title : `${title}: ${phrases.join(', ')}`;
  return { text, by: 'card', parts: [{ kind: 'tool', text: title }, ...valueParts, ...moreParts] };
}

interface NamedValue {
  name: string;
  value: string;
  depth: number;
}

/** Names each field's value. A list at the top level (`depth` 0) is one value: `to ann@example.com and 2 more`. */
function namedValues(fields: readonly CardField[]): NamedValue[] {
  const isElement = ({ path = [] }: CardField): boolean => path.length === 2 && /^\[\d+\]$/.test(path[1]!);
  const lists = Map.groupBy(fields.filter(isElement), ({ path = [] }) => path[0]!);
  return fields.flatMap((field): NamedValue[] => {
    const { name, path = [] } = field;
    if (!isElement(field)) return [{ name, value: valueOf(field), depth: path.length }];
    const list = path[0]!;
    const elements = lists.get(list)!;
    if (elements[0] !== field) return [];
    const more = elements.length === 1 ? '' : ` and ${elements.length - 1} more`;
    return [{ name: list, value: valueOf(field) + more, depth: 0 }];
  });
}

function moreText(rest: number): string {
  return rest > 0 ? `and ${rest} more` : '';
}

function valueOf({ format, reading, value }: CardField): string {
  return format === 'money' && reading !== undefined ? reading : firstLine(value.text);
}

/** True for a currency that the reading of an amount in the same object contains. */
function isShownCurrency({ name, path, value }: CardField, fields: readonly CardField[]): boolean {
  if (!nameWords(path?.at(-1) ?? name).includes('currency')) return false;
  const place = placeOf(path);
  return fields.some(
    (each) =>
      each.format === 'money' && placeOf(each.path) === place && each.reading?.endsWith(` ${value.text}`) === true,
  );
}

function placeOf(path: readonly string[] = []): string {
  return path.slice(0, -1).join('.');
}

/** Words that are written in capitals. */
const initialisms: ReadonlySet<string> = new Set(
  'api crm csv dns html http https iban id json pdf sql ssh url xml'.split(' '),
);

function titleOf(toolName: string): string {
  const isWord = /^[\w-]+$/.test(toolName);
  const parts = nameWords(toolName).map((word) => (initialisms.has(word) ? word.toUpperCase() : word));
  const words = isWord ? parts.join(' ') : visibleText(toolName);
  return words === '' ? 'A call' : `${words[0]!.toUpperCase()}${words.slice(1)}`;
}

const longestName = 200;
const mostNames = 10;

/** Returns the sentence for a row, cut and escaped. A row without values has only names: `Refund (order, amount)`. */
export function rowSentence(
  row: Pick<ApprovalSummary, 'toolName' | 'sentence' | 'shownArguments' | 'argumentNames'>,
): string {
  const { sentence, shownArguments = {}, argumentNames } = row;
  const toolName = row.toolName.slice(0, longestName).toWellFormed();
  const shown = Object.entries(shownArguments);
  if (sentence !== undefined || shown.length > 0) {
    const fields = shown.slice(0, mostValues).map(([name, text]): CardField => ({
      name: cutInline(name, longestValue),
      format: 'text',
      value: { text: visibleLine(text) },
    }));
    const hasMore = shown.length > fields.length || argumentNames.some((name) => !Object.hasOwn(shownArguments, name));
    return wholeText(cardSentence({ toolName, sentence }, fields, cardBounds, hasMore ? 'some' : 0));
  }
  // A row may not have the names of all arguments, so it cannot say how many are left out.
  const names = argumentNames.slice(0, mostNames).map((name) => cutInline(name, longestValue));
  if (argumentNames.length > mostNames) names.push('and more');
  return names.length === 0 ? titleOf(toolName) : `${titleOf(toolName)} (${names.join(', ')})`;
}

/** Returns the first line of a visible text, shortened. Several blanks become one, because they can hide the rest. */
function firstLine(text: string): string {
  const [line = ''] = text.split('\n');
  const flat = line.replaceAll('\t', ' ').replaceAll(/ {2,}/g, ' ');
  // The cut may split an escape or a surrogate pair. Remove the part of it at the end.
  const short = flat.slice(0, longestValue).replace(/\\u?\{?[0-9A-F]{0,6}$|\p{Surrogate}$/u, '');
  return short === flat && line === text ? short : `${short}…`;
}
