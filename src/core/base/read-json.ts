import { parse } from 'lossless-json';
import { jsonPlace } from './json-place.ts';
import { strictJsonProblem } from './strict-json.ts';
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
export function readJson(
  text: string,
  { root, refusedKeys = [] }: ReadJsonOptions,
): { value: Json } | { problem: string } {
  const problem = strictJsonProblem(text, { maxDepth: maxJsonDepth, refusedKeys });
  if (problem !== undefined) return { problem: `${jsonPlace(root, problem.place)}: ${problem.expected}` };
  try {
    // This parser says on each break where it is; those of the engines do not.
    return { value: parse(text, null, toNumber) as Json };
  } catch (error) {
    return { problem: `${root}: ${oneLine(error instanceof Error ? error.message : String(error))}` };
  }
}

/** JSON has no negative zero that every reader keeps. */
function toNumber(text: string): number {
  const number = Number(text);
  return number === 0 ? 0 : number;
}

function oneLine(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 300);
}
