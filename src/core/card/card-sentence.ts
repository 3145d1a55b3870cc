import type { Card, CardField } from './card.ts';
import type { CardRequest } from './card-request.ts';
import { type CardBounds, cutLine } from './cut-text.ts';
import { nameWords } from '../assess/name-words.ts';
import { visibleText } from '../base/visible-text.ts';

const longestValue = 60;
const mostValues = 3;

/**
 * The tool's own sentence, else one that is built from the call: `Refund: order o-17, amount 120.00 EUR`. `left`: the
 * number of values that have no field.
 */
export function cardSentence(
  request: CardRequest,
  fields: readonly CardField[],
  bounds: CardBounds,
  left = 0,
): Card['sentence'] {
  const { sentence, toolName } = request;
  if (sentence !== undefined && sentence.trim() !== '') return { ...cutLine(sentence, bounds.sentence), by: 'tool' };
  const isWord = /^[\w-]+$/.test(toolName);
  const words = isWord ? nameWords(toolName).join(' ') : visibleText(toolName);
  const title = words === '' ? 'A call' : `${words[0]!.toUpperCase()}${words.slice(1)}`;
  const parts = fields.slice(0, mostValues).map(({ name, value, reading, format }) => {
    const shown = format === 'money' && reading !== undefined ? reading : oneLine(value.text);
    return `${name} ${shown}`;
  });
  const rest = fields.length + left - mostValues;
  const more = rest > 0 ? `, and ${rest} more` : '';
  const text = parts.length === 0 ? title : `${title}: ${parts.join(', ')}${more}`;
  return { text, by: 'card' };
}

/** The first line of a visible text, shortened. */
function oneLine(text: string): string {
  const [line = ''] = text.split('\n');
  const short = line
    .replaceAll('\t', ' ')
    .slice(0, longestValue)
    .replace(/\\u?\{?[0-9A-F]{0,6}$|\p{Surrogate}$/u, '');
  return short === text ? text : `${short}…`;
}
