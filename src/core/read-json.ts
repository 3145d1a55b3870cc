import { compareNumber, isLosslessNumber, parse } from 'lossless-json';
import { jsonPlace } from './json-place.ts';
import type { Json } from './tool-call.ts';

/** Arrays and objects within one another: what people and programs write is far from it, and no reader overflows. */
export const maxJsonDepth = 64;

export interface ReadJsonOptions {
  /** What the value is called where something is wrong with it, such as `arguments`. */
  root: string;
  /** Keys that no object in it may have. Default none. */
  refusedKeys?: readonly string[];
}

/**
 * Reads JSON that somebody else will read too. Refused is what two readers could understand differently: a key written
 * twice, numbers that a double does not hold as they are written, half a surrogate pair; and what is nested too deep.
 * `problem` is a place and what was expected there, one line. Never throws.
 */
export function readJson(text: string, options: ReadJsonOptions): { value: Json } | { problem: string } {
  const { root } = options;
  const problem = scan(text, options);
  if (problem !== undefined) return { problem };
  try {
    return { value: toJson(parse(text), { root, steps: [] }) };
  } catch (error) {
    if (error instanceof Refusal) return { problem: error.message };
    return { problem: `${root}: ${oneLine(error instanceof Error ? error.message : String(error))}` };
  }
}

class Refusal extends Error {}

interface Path {
  root: string;
  steps: readonly PropertyKey[];
}

function into({ root, steps }: Path, step: PropertyKey): Path {
  return { root, steps: [...steps, step] };
}

/** An open object or array; `step` is the key or index inside it that is being read. */
interface Level {
  keys?: Set<string>;
  step: string | number;
  expectsKey: boolean;
}

/**
 * Finds what the parser would overflow on (depth) or pass over (a key written twice with equal values) before it runs.
 * One pass, no recursion; malformed text is left to the parser to describe.
 */
function scan(text: string, { root, refusedKeys = [] }: ReadJsonOptions): string | undefined {
  const levels: Level[] = [];
  const place = (): string =>
    jsonPlace(
      root,
      levels.map((level) => level.step),
    );
  for (let index = 0; index < text.length; index++) {
    const level = levels.at(-1);
    const character = text[index];
    if (character === '"') {
      const start = index;
      for (index++; index < text.length && text[index] !== '"'; index++) if (text[index] === '\\') index++;
      if (!level?.keys || !level.expectsKey) continue;
      const key = decodeText(text.slice(start, index + 1));
      if (key === undefined) continue;
      level.expectsKey = false;
      level.step = key;
      if (level.keys.has(key)) return `${place()}: expected each key once`;
      if (refusedKeys.includes(key)) return `${place()}: expected a key other than '${key}'`;
      level.keys.add(key);
    } else if (character === '{' || character === '[') {
      if (levels.length === maxJsonDepth) return `${root}: expected at most ${maxJsonDepth} levels of nesting`;
      levels.push(character === '{' ? { keys: new Set(), step: '', expectsKey: true } : { step: 0, expectsKey: false });
    } else if (character === '}' || character === ']') {
      levels.pop();
    } else if (character === ',' && level) {
      if (level.keys) level.expectsKey = true;
      else level.step = (level.step as number) + 1;
    }
  }
  return undefined;
}

function decodeText(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}

/** The value with plain numbers; at most `maxJsonDepth` deep. Throws a `Refusal`. */
function toJson(value: unknown, path: Path): Json {
  if (isLosslessNumber(value)) return toNumber(value.value, path);
  if (typeof value === 'string') return checkText(value, path);
  if (Array.isArray(value)) return value.map((item, index) => toJson(item, into(path, index)));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [checkText(key, path), toJson(item, into(path, key))]),
    );
  }
  return value as null | boolean;
}

function toNumber(text: string, path: Path): number {
  const number = Number(text);
  const isInteger = !/[.eE]/.test(text);
  if (!holds(number, text, isInteger)) {
    throw new Refusal(
      `${jsonPlace(path.root, path.steps)}: expected a number that a double holds${isInteger ? ' exactly; send it as text' : ''}`,
    );
  }
  return number === 0 ? 0 : number;
}

/** Whether the double, written as JSON again, is the number that was read. Fractions may round, integers may not. */
function holds(number: number, text: string, isInteger: boolean): boolean {
  if (!Number.isFinite(number)) return false;
  if (isInteger && BigInt(number) !== BigInt(text)) return false;
  if (number === 0) return !/[1-9]/.test(text.replace(/[eE].*$/, ''));
  return Number.isSafeInteger(number) || !Number.isInteger(number) || compareNumber(text, String(number)) === 0;
}

function checkText(text: string, path: Path): string {
  if (/\p{Surrogate}/u.test(text)) {
    throw new Refusal(`${jsonPlace(path.root, path.steps)}: expected text without half a surrogate pair`);
  }
  return text;
}

function oneLine(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 300);
}
