import { endOfText } from './strict-json.ts';

/**
 * `JSON.parse` without a fault of V8 (12.8 and later, nodejs/node#63785): it reads the key `"a\u0062"` as `a\` if an
 * earlier text of the process had the key `a\` in that place. So two processes could read one text differently. Throws
 * a SyntaxError.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasEscapedKey(text) ? readApart(text) : value;
}

const isSpace = /\s/;

function hasEscapedKey(text: string): boolean {
  if (!text.includes('\\')) return false;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) {
    const end = endOfText(text, at);
    at = end.at;
    if (end.hasEscapes && isKey(text, at)) return true;
  }
  return false;
}

/** True if a colon follows the string that ends at `end`. */
function isKey(text: string, end: number): boolean {
  let at = end + 1;
  while (at < text.length && isSpace.test(text[at]!)) at += 1;
  return text[at] === ':';
}

interface Level {
  value: unknown[] | Record<string, unknown>;
  /** The key whose value comes next. */
  key?: string;
}

/** Reads what is known to be JSON. The fault concerns keys of objects, so each string is read by itself. */
function readApart(text: string): unknown {
  const levels: Level[] = [];
  const scalar = /[^\s,\]}]+/y;
  let root: unknown;
  const put = (value: unknown): void => {
    const level = levels.at(-1);
    if (level === undefined) root = value;
    else if (Array.isArray(level.value)) level.value.push(value);
    else {
      // An assignment to `__proto__` would set no member.
      Object.defineProperty(level.value, level.key!, { value, writable: true, enumerable: true, configurable: true });
      delete level.key;
    }
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === '{' || character === '[') {
      const value = character === '{' ? {} : [];
      put(value);
      levels.push({ value });
    } else if (character === '}' || character === ']') levels.pop();
    else if (character === '"') {
      const { at: end } = endOfText(text, at);
      const read = JSON.parse(text.slice(at, end + 1)) as string;
      const level = levels.at(-1);
      if (level !== undefined && !Array.isArray(level.value) && level.key === undefined) level.key = read;
      else put(read);
      at = end;
    } else if (character !== ',' && character !== ':' && !isSpace.test(character)) {
      scalar.lastIndex = at;
      const [token] = scalar.exec(text)!;
      put(JSON.parse(token));
      at += token.length - 1;
    }
  }
  return root;
}
