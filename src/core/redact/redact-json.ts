import { isJson } from '../base/is-json.ts';
import type { FindMore } from './find-sensitive.ts';
import { redactText } from './find-sensitive.ts';
import { placeholderOf } from './kinds.ts';
import { namedKind } from './named-kind.ts';
import { namesSecret } from './redact-secrets.ts';

/** A string, a sign, or a number, `true`, `false` or `null`. */
const tokens = /"[^"\\]*(?:\\[^][^"\\]*)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

/**
 * The text of one JSON value with its strings redacted. All else stays as it is written: names, numbers, order, repeated
 * names and white space. Undefined if the text is not JSON.
 */
export function redactJson(text: string, kinds: readonly string[], findMore?: FindMore): string | undefined {
  if (!isJson(text)) return undefined;
  const names: string[] = [];
  const isObject: boolean[] = [];
  let isName = false;
  return text.replace(new RegExp(tokens), (token) => {
    if (token === '{' || token === '[') {
      isObject.push(token === '{');
      names.push('');
    } else if (token === '}' || token === ']') {
      isObject.pop();
      names.pop();
    }
    if (token === '{' || token === ',') isName = isObject.at(-1) === true;
    else if (token.startsWith('"') && isName) {
      names[names.length - 1] = JSON.parse(token) as string;
      isName = false;
    } else if (token.startsWith('"')) return redactedString(token, names, kinds, findMore);
    return token;
  });
}

function redactedString(token: string, names: readonly string[], kinds: readonly string[], findMore?: FindMore) {
  const text = JSON.parse(token) as string;
  const shown = redacted(text, names, kinds, findMore);
  return shown === text ? token : JSON.stringify(shown);
}

function redacted(text: string, names: readonly string[], kinds: readonly string[], findMore?: FindMore): string {
  if (text === '') return text;
  if (kinds.includes('PASSWORD') && names.some(namesSecret)) return placeholderOf('PASSWORD');
  const named = namedKind(names.findLast((name) => name !== '') ?? '', text);
  if (named !== undefined && kinds.includes(named)) return placeholderOf(named);
  return redactText(text, kinds, findMore);
}
