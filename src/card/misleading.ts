/** Explains the escapes of a card in words. */
import { lookAlikes, looksLike } from '../text/look-alikes.ts';
import { fromVisible, visibleEscape, visibleText } from '../text/visible-text.ts';
import type { CardField, CardRequest } from './card.ts';

/** Longest part of a value that is quoted in a warning. */
const longestQuote = 80;

export function misleading(
  { toolName, agentName, sentence = '' }: CardRequest,
  fields: readonly CardField[],
): string[] {
  const texts: [name: string, shown: string][] = [
    ['The name of the tool', visibleText(toolName)],
    ['The name of the agent', visibleText(agentName)],
    ['The sentence', visibleText(sentence)],
    ...fields.flatMap(({ name, value }): [string, string][] => [
      [`The name '${name}'`, name],
      [`'${name}'`, `${value.text}${value.end ?? ''}`],
    ]),
  ];
  return [
    ...texts.flatMap(([name, shown]) => warningsOf(name, shown)),
    ...texts.flatMap(([name, shown]) => orderWarning(name, shown)),
    ...fields.flatMap(({ name, format, value }) =>
      format === 'url' ? [] : hostWarning(name, value.text + (value.end ?? '')),
    ),
  ];
}

/** Hebrew, Arabic and others, without the controls, which are escaped. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Beside such letters, digits and signs are displayed in another order: `/srv/א/12/34` as `/srv/12/34/א`. */
function orderWarning(name: string, shown: string): string[] {
  if (!rightToLeft.test(shown) || !/[0-9/\\]/.test(shown)) return [];
  return [`${name} has letters written from right to left: what stands beside them may be drawn in another order.`];
}

/** An address within a text that begins with one host and leads to another: `https://bank.example@evil.example`. */
function hostWarning(name: string, shown: string): string[] {
  const found = /https?:\/\/[^\s/?#@]{1,200}@([^\s/?#@]{1,200})/i.exec(shown);
  return found === null ? [] : [`'${name}' has an address that leads to ${found[1]}: ${found[0]}.`];
}

function warningsOf(name: string, shown: string): string[] {
  // Each once: a text may have a million of them.
  const escapes = [...new Set(shown.match(visibleEscape))].map(fromVisible);
  if (escapes.length === 0) return [];
  const text = fromVisible(shown);
  const places = lookAlikes(text);
  const odd = new Set(places.map((index) => String.fromCodePoint(text.codePointAt(index)!)));
  const unseen = escapes.filter((character) => character !== '\\' && !odd.has(character));
  const word = places[0] === undefined ? '' : oddWord(text, places[0]);
  return [
    ...(odd.size === 0 ? [] : [`${name} has characters that pass for others: ${word}.`]),
    ...(unseen.length === 0
      ? []
      : [`${name} has invisible or misleading characters, shown as ${visibleText(unseen[0]!)}.`]),
  ];
}

const blank = /\s/;

/** The word with the character at `at`, and its look-alike. */
function oddWord(text: string, at: number): string {
  let start = at;
  while (start > 0 && !blank.test(text[start - 1]!)) start -= 1;
  const word = /^\S*/.exec(text.slice(start, start + longestQuote))![0];
  return `${visibleText(word)} looks like ${visibleText(looksLike(word))}`;
}
