/** One pattern, `name` or `name:args`, against one call (policy section 2). */
import { canonicalJson, canonicalJsonProblem } from './canonical-json.ts';
import { compileGlob, globMatches, globSubject, matchWork, maxMatchWork, type Glob, type GlobSubject } from './glob.ts';
import type { Json, JsonObject } from './tool-call.ts';

const posixClass = /\[:(alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]/;
export const maxPatternLength = 256;
export const maxWildcards = 16;
/**
 * What all matches of one ruling may cost together, as in `maxMatchWork`: 1,000 rules over 800 KB of arguments took
 * 20 seconds, in which a workflow task dies and is tried again for ever.
 */
export const maxRulingWork = 32_000_000;

export interface CompiledPattern {
  name: Glob;
  /** Absent: the pattern has no colon, and any arguments match. */
  args?: Glob;
}

/** A call made ready for many patterns. The arguments' text is made when the first pattern asks for it. */
export interface CallSubjects {
  name: GlobSubject;
  args: () => GlobSubject;
  /** Takes from `maxRulingWork`; false once it is used up. */
  afford: (work: number) => boolean;
}

/**
 * Compiles a pattern. It splits at its first colon. What is wrong with it comes back as half a sentence that begins
 * with a verb: `holds the reversed range [z-a]`.
 */
export function compilePattern(pattern: string): CompiledPattern | { problem: string } {
  if (pattern.trim() === '') return { problem: 'is empty: write * to match every tool' };
  if (pattern.trim() !== pattern) return { problem: 'begins or ends with a blank' };
  const length = Array.from(pattern.normalize('NFC')).length;
  if (length > maxPatternLength)
    return { problem: `has ${length} characters; at most ${maxPatternLength} are allowed` };
  const [posix] = posixClass.exec(pattern) ?? [];
  if (posix !== undefined)
    return { problem: `holds ${posix}, which is not part of the language: write [0-9] or the like` };
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
  const named = affordable(pattern.name, subjects.name, subjects);
  if (named !== true || pattern.args === undefined) return named;
  return affordable(pattern.args, subjects.args(), subjects);
}

function affordable(glob: Glob, subject: GlobSubject, subjects: CallSubjects): boolean | { problem: string } {
  const work = matchWork(glob, subject);
  if (work > maxMatchWork || subjects.afford(work)) return globMatches(glob, subject);
  return { problem: 'the arguments are too long for so many rules' };
}

/** Makes a call ready for one ruling. `subject` names the argument that `name:args` patterns see, if there is one. */
export function callSubjects(call: { tool: string; args: JsonObject; subject?: string }): CallSubjects {
  let args: GlobSubject | undefined;
  let spent = 0;
  return {
    name: globSubject(call.tool),
    args: () => (args ??= argsSubject(call.args, call.subject)),
    afford: (work) => (spent += work) <= maxRulingWork,
  };
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
