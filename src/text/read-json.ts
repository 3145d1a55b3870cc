import { parse } from 'lossless-json';
import { jsonPlace, strictJsonProblem } from '../core/base/json.ts';
import type { Json } from '../core/base/tool-call.ts';

/** Maximum nesting of arrays and objects: far more than people or programs write, and safe for any reader's stack. */
export const maxJsonDepth = 64;

export interface ReadJsonOptions {
  /** The name of the value in a problem's place, such as `arguments`. */
  root: string;
  /** The keys that are refused in every object of the value. Default: none. */
  refusedKeys?: readonly string[];
}

/**
 * Reads JSON that others will read, too. Refuses deep nesting, and what two readers could understand differently: a
 * duplicate key, a number that a double does not hold, half a surrogate pair. `problem` is one line with a place. Never
 * throws.
 */
export function readJson(
  text: string,
  { root, refusedKeys = [] }: ReadJsonOptions,
): { value: Json } | { problem: string } {
  const problem = strictJsonProblem(text, { maxDepth: maxJsonDepth, refusedKeys });
  if (problem !== undefined) return { problem: `${jsonPlace(root, problem.place)}: ${problem.expected}` };
  try {
    // This parser reports the place of every syntax error; the parsers of JavaScript engines do not.
    return { value: parse(text, null, toNumber) as Json };
  } catch (error) {
    return { problem: `${root}: ${oneLine(error instanceof Error ? error.message : String(error))}` };
  }
}

/** Reads a number. Drops the sign of a negative zero, because not every reader of JSON keeps it. */
function toNumber(text: string): number {
  const number = Number(text);
  return number === 0 ? 0 : number;
}

function oneLine(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 300);
}

/** The text of bytes in UTF-8; undefined for other bytes. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** True if the text is JSON, of any kind and size. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
