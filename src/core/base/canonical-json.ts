import canonicalize from 'canonicalize';
import { ProblemError } from './problem.ts';
import type { Json } from './tool-call.ts';
import { isWellFormed } from './text.ts';

/** Maximum nesting of a JSON value that has canonical JSON: `[[1]]` is 2 deep. Deeper values are refused (I5d). */
export const maxCanonicalDepth = 200;

/**
 * RFC 8785 text of a JSON value, the same for equal values in every language. `undefined` members are left out. Throws
 * a `ProblemError` (`arguments_invalid`) if `canonicalJsonProblem` finds a problem.
 */
export function canonicalJson(value: Json): string {
  const written = writeCanonicalJson(value);
  if ('problem' in written) throw new ProblemError({ code: 'arguments_invalid', message: written.problem });
  return written.text;
}

/** The text that `canonicalJson` returns, or the problem that it throws. This function itself never throws. */
export function writeCanonicalJson(value: Json): { text: string } | { problem: string } {
  const problem = canonicalJsonProblem(value);
  // After this check, canonicalize never returns undefined.
  return problem === undefined ? { text: canonicalize(value) as string } : { problem };
}

/**
 * Why a value has no canonical JSON, in one sentence: nesting deeper than `maxCanonicalDepth` (as in every cycle),
 * half a surrogate pair, NaN, an infinity, or a value that is not JSON. Never throws.
 */
export function canonicalJsonProblem(value: unknown): string | undefined {
  if (isSmallAndSound(value, 1, { left: 1_000 })) return undefined;
  // The depth comes first, because the levels of a cycle would never end.
  if (isTooDeep(value)) return `the JSON is nested more than ${maxCanonicalDepth} levels deep`;
  for (const level of levelsOf(value)) {
    for (const item of level) {
      const problem = ownProblem(item);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

/** A fast check that visits at most `budget.left` members. True: no problem. False: there may be one. */
function isSmallAndSound(value: unknown, depth: number, budget: { left: number }): boolean {
  budget.left -= 1;
  if (budget.left < 0 || depth > maxCanonicalDepth) return false;
  if (!isContainer(value)) return ownProblem(value) === undefined;
  // `Array.from` turns the holes of a sparse array into members, which `some` would skip.
  if (Array.isArray(value))
    return !Array.from(value as unknown[]).some((each) => !isSmallAndSound(each, depth + 1, budget));
  if (!isPlain(value)) return false;
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (!isWellFormed(key)) return false;
    if (member !== undefined && !isSmallAndSound(member, depth + 1, budget)) return false;
  }
  return true;
}

/** True if arrays and objects are nested more than `limit` deep. Never throws, because it does not recurse. */
export function isTooDeep(value: unknown, limit: number = maxCanonicalDepth): boolean {
  let depth = 0;
  for (const level of levelsOf(value)) {
    if (depth === limit) return level.some(isContainer);
    depth += 1;
  }
  return false;
}

/** Yields the value, then its members, then theirs, and so on. A level opens each container once, so it stays small. */
function* levelsOf(value: unknown): Generator<unknown[]> {
  for (let level = [value]; level.length > 0;) {
    yield level;
    level = [...new Set(level.filter(isContainer))].flatMap(membersOf);
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function membersOf(container: object): unknown[] {
  if (Array.isArray(container)) return Array.from(container as unknown[]);
  return Object.values(container).filter((member) => member !== undefined);
}

/** Why this value, apart from its members, has no canonical JSON; undefined if nothing is wrong with it. */
function ownProblem(item: unknown): string | undefined {
  switch (typeof item) {
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(item) ? undefined : `${item} is not a number in JSON`;
    case 'string':
      return isWellFormed(item) ? undefined : 'a text holds half a surrogate pair, which JSON cannot carry safely';
    case 'object':
      if (item === null || Array.isArray(item)) return undefined;
      if (!isPlain(item)) return 'a value is an instance of a class, not JSON';
      return Object.keys(item).every(isWellFormed)
        ? undefined
        : 'a field name holds half a surrogate pair, which JSON cannot carry safely';
    default:
      return `a value is ${typeof item}, which is not JSON`;
  }
}

/** True for a plain object of any realm, because the workflow sandbox has its own `Object.prototype`. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
