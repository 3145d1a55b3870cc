/** One pattern, `name` or `name:args`, against one call (policy section 2). */
import { canonicalJson, canonicalJsonProblem } from './canonical-json.ts';
import { compileGlob, globMatches, globSubject, type Glob, type GlobSubject } from './glob.ts';
import { isWellFormed } from './well-formed.ts';
import type { Json, JsonObject } from './tool-call.ts';

export const maxPatternLength = 256;
export const maxWildcards = 16;

export interface CompiledPattern {
  name: Glob;
  /** Absent: the pattern has no colon, and any arguments match. */
  args?: Glob;
}

/** A call made ready for many patterns. The arguments' text is made when the first pattern asks for it. */
export interface CallSubjects {
  name: GlobSubject;
  args: () => GlobSubject;
}

/**
 * Compiles a pattern. It splits at its first colon. What is wrong with it comes back as half a sentence that begins
 * with a verb: `holds the reversed range [z-a]`.
 */
export function compilePattern(pattern: string): CompiledPattern | { problem: string } {
  if (pattern.trim() === '') return { problem: 'is empty: write * to match every tool' };
  if (pattern.trim() !== pattern) return { problem: 'begins or ends with a blank' };
  if (!isWellFormed(pattern)) return { problem: 'holds half a surrogate pair' };
  const length = Array.from(pattern.normalize('NFC')).length;
  if (length > maxPatternLength)
    return { problem: `has ${length} characters; at most ${maxPatternLength} are allowed` };
  const colon = pattern.indexOf(':');
  const name = compileGlob(colon === -1 ? pattern : pattern.slice(0, colon));
  if ('problem' in name) return name;
  const args = colon === -1 ? undefined : compileGlob(pattern.slice(colon + 1));
  if (args !== undefined && 'problem' in args) return args;
  const wildcards = name.wildcards + (args?.wildcards ?? 0);
  if (wildcards > maxWildcards) return { problem: `has ${wildcards} wildcards; at most ${maxWildcards} are allowed` };
  return args === undefined ? { name } : { name, args };
}

/** Whether the call matches, or, as half a sentence, why that cannot be said: the caller then fails closed (I2). */
export function matches(pattern: CompiledPattern, subjects: CallSubjects): boolean | { problem: string } {
  const named = globMatches(pattern.name, subjects.name);
  if (named !== true || pattern.args === undefined) return named;
  return globMatches(pattern.args, subjects.args());
}

/** Makes a call ready for matching. `subject` names the argument that `name:args` patterns see, if there is one. */
export function callSubjects(call: { tool: string; args: JsonObject; subject?: string }): CallSubjects {
  let args: GlobSubject | undefined;
  return { name: globSubject(call.tool), args: () => (args ??= argsSubject(call.args, call.subject)) };
}

function argsSubject(args: JsonObject, subject: string | undefined): GlobSubject {
  // Own properties only: `constructor` and its like are no arguments.
  const value: Json | undefined =
    subject === undefined ? args : Object.hasOwn(args, subject) ? args[subject] : undefined;
  if (value === undefined) return { problem: `argument '${subject}' is missing` };
  if (typeof value === 'string') return globSubject(value);
  const problem = canonicalJsonProblem(value);
  return problem === undefined ? globSubject(canonicalJson(value)) : { problem };
}
