import { isJson } from '../text/read-json.ts';
import { type FindMore, redactText, namesSecret } from '../core/redact/find-sensitive.ts';
import { placeholderOf, namedKind, valuePlaceholder } from '../core/redact/kinds.ts';

/** Matches a string, a bracket, a comma, a colon, a number, `true`, `false` or `null`. */
const tokens = /"[^"\\]*(?:\\[^][^"\\]*)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

/** Redacts the strings of one JSON value. All else stays unchanged. Undefined if the text is not JSON. */
export function redactJson(text: string, kinds: readonly string[], findMore?: FindMore): string | undefined {
  if (!isJson(text)) return undefined;
  const levels: Level[] = [{ isObject: false, name: '', inSecret: false }];
  // In an object, the string after `{` or `,` is the name of a member.
  let isName = false;
  return text.replace(new RegExp(tokens), (token) => {
    const level = levels.at(-1)!;
    if (token === '{' || token === '[') levels.push({ ...level, isObject: token === '{' });
    else if (token === '}' || token === ']') levels.pop();
    if (token === '{' || token === ',') isName = levels.at(-1)!.isObject;
    else if (token.startsWith('"') && isName) {
      levels[levels.length - 1] = memberLevel(JSON.parse(token) as string, level, levels.at(-2)!);
      isName = false;
    } else if (token.startsWith('"')) return redactedString(token, level, kinds, findMore);
    return token;
  });
}

interface Level {
  isObject: boolean;
  /** The nearest name above; empty: there is none. */
  name: string;
  /** True if one of the names above is that of a secret. */
  inSecret: boolean;
}

/** The level after a member's name, which then counts for the member's value. */
function memberLevel(name: string, { isObject }: Level, above: Level): Level {
  return { isObject, name: name === '' ? above.name : name, inSecret: above.inSecret || namesSecret(name) };
}

function redactedString(token: string, level: Level, kinds: readonly string[], findMore?: FindMore): string {
  const text = JSON.parse(token) as string;
  const shown = redacted(text, level, kinds, findMore);
  return shown === text ? token : JSON.stringify(shown);
}

function redacted(text: string, { name, inSecret }: Level, kinds: readonly string[], findMore?: FindMore): string {
  if (text === '') return text;
  if (kinds.includes('PASSWORD') && inSecret) return placeholderOf('PASSWORD');
  const kind = namedKind(name, text);
  if (kind !== undefined && kinds.includes(kind)) return valuePlaceholder(kind, text);
  return redactText(text, kinds, findMore);
}
