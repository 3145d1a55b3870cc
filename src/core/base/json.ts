/** True for an object that is not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a value is, for a sentence about input: `nothing`, `null`, `a list`, `an object`, `a string` and so on. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** A place in a JSON value, written for a model or a person: `arguments.items[2].name`, where `root` is `arguments`. */
export function jsonPlace(root: string, path: readonly PropertyKey[]): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    // A model chooses the names, and may choose long ones.
    const name = String(step).slice(0, 64);
    return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
  });
  return root + steps.join('');
}

/**
 * `JSON.parse` without a bug of V8 (nodejs/node#63785): V8 reads the key `"a\u0062"` as `a\` if this process has
 * parsed a text with the key `a\` before, so two processes could read one text differently. May throw.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasEscapedKey(text) ? parseByToken(text) : value;
}

const isSpace = /\s/;

/** True if a key of an object in this JSON text has an escape. */
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

/** Parses valid JSON. `JSON.parse` reads each string alone, because its bug concerns only keys of objects. */
function parseByToken(text: string): unknown {
  // The outermost level is a list whose only item is the value of the whole text.
  const whole: unknown[] = [];
  const levels: Level[] = [{ value: whole }];
  const scalar = /[^\s,\]}]+/y;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    const level = levels.at(-1)!;
    if (character === '{' || character === '[') {
      const value = character === '{' ? {} : [];
      addValue(level, value);
      levels.push({ value });
    } else if (character === '}' || character === ']') levels.pop();
    else if (character === '"') {
      const { at: end } = endOfText(text, at);
      const string = JSON.parse(text.slice(at, end + 1)) as string;
      const isKey = !Array.isArray(level.value) && level.key === undefined;
      if (isKey) level.key = string;
      else addValue(level, string);
      at = end;
    } else if (character !== ',' && character !== ':' && !isSpace.test(character)) {
      scalar.lastIndex = at;
      const [token] = scalar.exec(text)!;
      addValue(level, JSON.parse(token));
      at += token.length - 1;
    }
  }
  return whole[0];
}

/** Adds a value at the end of the list, or under the key that was read last. */
function addValue(level: Level, value: unknown): void {
  if (Array.isArray(level.value)) {
    level.value.push(value);
    return;
  }
  // An assignment to `__proto__` would set no member.
  Object.defineProperty(level.value, level.key!, { value, writable: true, enumerable: true, configurable: true });
  delete level.key;
}

export interface StrictJsonOptions {
  /** Maximum nesting of arrays and objects. */
  maxDepth: number;
  /** Keys that no object in the value may have. Default none. */
  refusedKeys?: readonly string[];
}

/** `place`: the keys and indexes that lead to the value. `expected`: what was expected there. */
export interface StrictJsonProblem {
  place: readonly (string | number)[];
  expected: string;
}

/** An open object or array; `step` is the key or index inside it that is being read. */
interface OpenLevel {
  keys?: Set<string>;
  step: string | number;
  expectsKey: boolean;
}

/**
 * The first problem of a JSON text that a parser would not report: a duplicate or refused key, a number that a double
 * does not hold as written, half a surrogate pair, nesting deeper than `maxDepth`. A parser reports malformed text.
 */
export function strictJsonProblem(
  text: string,
  { maxDepth, refusedKeys = [] }: StrictJsonOptions,
): StrictJsonProblem | undefined {
  const levels: OpenLevel[] = [];
  const problemHere = (expected: string): StrictJsonProblem => ({ place: levels.map(({ step }) => step), expected });
  const numberShape = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  const isWellFormed = text.isWellFormed();
  for (let index = 0; index < text.length; index++) {
    const level = levels.at(-1);
    const code = text.charCodeAt(index);
    if (code === quote) {
      const start = index;
      const end = endOfText(text, start);
      index = end.at;
      const isKey = level?.keys !== undefined && level.expectsKey;
      // A value without escapes, in a well-formed text, has no problem.
      if (!isKey && isWellFormed && !end.hasEscapes) continue;
      const value = end.hasEscapes ? unescaped(text.slice(start, index + 1)) : text.slice(start + 1, index);
      // The string is malformed: the parser will report that.
      if (value === undefined) continue;
      if (!value.isWellFormed()) {
        // The key itself cannot be shown, so the place is that of its object.
        if (isKey) levels.pop();
        return problemHere('expected text without half a surrogate pair');
      }
      if (!isKey) continue;
      level.expectsKey = false;
      level.step = value;
      if (level.keys!.has(value)) return problemHere('expected each key once');
      if (refusedKeys.includes(value)) return problemHere(`expected a key other than '${value}'`);
      level.keys!.add(value);
    } else if (code === openBrace || code === openBracket) {
      if (levels.length === maxDepth) return { place: [], expected: `expected at most ${maxDepth} levels of nesting` };
      levels.push(
        code === openBrace ? { keys: new Set(), step: '', expectsKey: true } : { step: 0, expectsKey: false },
      );
    } else if (code === closeBrace || code === closeBracket) {
      levels.pop();
    } else if (code === comma && level) {
      if (level.keys) level.expectsKey = true;
      else level.step = (level.step as number) + 1;
    } else if (code === minus || (code >= zero && code <= nine)) {
      numberShape.lastIndex = index;
      const number = numberShape.exec(text)?.[0];
      if (number === undefined) continue;
      index += number.length - 1;
      const expected = expectedNumber(number);
      if (expected !== undefined) return problemHere(expected);
    }
  }
  return undefined;
}

/** What was expected in the place of a number that a double does not hold; undefined if a double holds it. */
function expectedNumber(number: string): string | undefined {
  const isInteger = /^-?\d+$/.test(number);
  if (isExact(Number(number), number, isInteger)) return undefined;
  return `expected a number that a double holds${isInteger ? ' exactly; send it as text' : ''}`;
}

const [quote, backslash, comma, minus, zero, nine] = [0x22, 0x5c, 0x2c, 0x2d, 0x30, 0x39];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The index of the quote that ends the string starting at `start`; the length of the text or more if none does. */
export function endOfText(text: string, start: number): { at: number; hasEscapes: boolean } {
  let hasEscapes = false;
  let at = start + 1;
  for (; at < text.length && text.charCodeAt(at) !== quote; at++) {
    if (text.charCodeAt(at) !== backslash) continue;
    hasEscapes = true;
    at++;
  }
  return { at, hasEscapes };
}

function unescaped(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}

/** True if the double stands for the number in `text`. Fractions may be rounded, integers may not. */
function isExact(number: number, text: string, isInteger: boolean): boolean {
  if (!Number.isFinite(number)) return false;
  if (isInteger && BigInt(number) !== BigInt(text)) return false;
  // A number such as 1e-999 has become 0.
  if (number === 0) return !/[1-9]/.test(text.split(/[eE]/, 1)[0]!);
  return Number.isSafeInteger(number) || !Number.isInteger(number) || normalForm(text) === normalForm(String(number));
}

/** One text for all spellings of a number other than zero: `1.50e3`, `1500` and `15E+2` all give `15e2`. */
function normalForm(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  // A regular expression would take quadratic time on many zeros.
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  const significant = digits.slice(0, end);
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
