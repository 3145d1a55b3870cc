import { compareNumber, isLosslessNumber, parse } from 'lossless-json';
import { argumentPlace } from '../agents/argument-place.ts';
import { inlineLimits } from '../core/size-limits.ts';
import type { Json, JsonObject } from '../core/tool-call.ts';

/** `problem` is a place and what was expected there, one line. */
export type ParsedArguments = { args: JsonObject } | { problem: string };

export const maxArgumentDepth = 64;

/**
 * Reads the raw text of a tool call's arguments, of at most `maxBytes` (default: what fits a payload of Temporal's);
 * empty text means none. Never throws.
 *
 * Refused is what two readers could understand differently, so that a policy, a reviewer and the tool see the same
 * call: duplicate keys, integers that a double cannot hold, lone surrogates, `__proto__`; and what is too large or deep.
 */
export function parseArguments(text: string, maxBytes = inlineLimits.argumentBytes): ParsedArguments {
  if (text.trim() === '') return { args: {} };
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) return { problem: `arguments: ${bytes} bytes, expected at most ${maxBytes}` };
  const problem = scan(text);
  if (problem !== undefined) return { problem };
  try {
    const value = toJson(parse(text), []);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { problem: `arguments: expected an object, got ${kindOf(value)}` };
    }
    return { args: value };
  } catch (error) {
    if (error instanceof Refusal) return { problem: error.message };
    return { problem: `arguments: ${oneLine(error instanceof Error ? error.message : String(error))}` };
  }
}

class Refusal extends Error {}

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
function scan(text: string): string | undefined {
  const levels: Level[] = [];
  const place = (): string => argumentPlace(levels.map((level) => level.step));
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
      if (key === '__proto__') return `${place()}: expected a key other than '__proto__'`;
      level.keys.add(key);
    } else if (character === '{' || character === '[') {
      if (levels.length === maxArgumentDepth)
        return `arguments: expected at most ${maxArgumentDepth} levels of nesting`;
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

/** The value with plain numbers; at most `maxArgumentDepth` deep. Throws a `Refusal`. */
function toJson(value: unknown, path: readonly PropertyKey[]): Json {
  if (isLosslessNumber(value)) return toNumber(value.value, path);
  if (typeof value === 'string') return checkText(value, path);
  if (Array.isArray(value)) return value.map((item, index) => toJson(item, [...path, index]));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [checkText(key, path), toJson(item, [...path, key])]),
    );
  }
  return value as null | boolean;
}

function toNumber(text: string, path: readonly PropertyKey[]): number {
  const number = Number(text);
  const isInteger = !/[.eE]/.test(text);
  if (!holds(number, text, isInteger)) {
    throw new Refusal(
      `${argumentPlace(path)}: expected a number that a double holds${isInteger ? ' exactly; send it as text' : ''}`,
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

function checkText(text: string, path: readonly PropertyKey[]): string {
  if (/\p{Surrogate}/u.test(text)) {
    throw new Refusal(`${argumentPlace(path)}: expected text without half a surrogate pair`);
  }
  return text;
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

function oneLine(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 300);
}
