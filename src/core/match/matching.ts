import { continueTool, type Json, type JsonObject } from '../base/tool-call.ts';
import { writeCanonicalJson } from '../base/canonical-json.ts';
import type { Glob, GlobSubject, ListReading } from './glob.ts';
import {
  compileGlob,
  globSubject,
  lengthOf,
  listSubject,
  matchWork,
  maxMatchWork,
  readingMatches,
  workDone,
} from './glob.ts';
import type { RulingMeter } from './ruling-meter.ts';
import { nfc } from '../base/text.ts';

const posixClass = /\[:(alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]/;
export const maxPatternLength = 256;
export const maxWildcards = 16;
/** The most work of one ruling. Without a limit, 1,000 rules over 800 KB took 20 s, and the workflow task timed out. */
export const maxRulingWork = 32_000_000;

export interface CompiledPattern {
  name: Glob;
  /** The glob on the arguments. Absent: the pattern has no colon, and any arguments match. */
  args?: Glob;
}

/** A call prepared for many patterns. The text of the arguments is made on first use. */
export interface CallSubjects {
  /** The name of the argument that `name:args` patterns match; undefined: they match the JSON of all arguments. */
  subject: string | undefined;
  name: GlobSubject;
  args: () => GlobSubject;
  field: (name: string) => GlobSubject;
  /** Adds `work` to what the ruling has used; false once that exceeds `maxRulingWork`. */
  afford: (work: number) => boolean;
  /** Counts the work that matches really do: mostly far less than the upper bounds that `afford` adds. */
  meter: RulingMeter;
}

/** Compiles a pattern, split at its first colon, except `continueTool`. A problem is a clause, such as `is empty`. */
export function compilePattern(pattern: string): CompiledPattern | { problem: string; args?: undefined } {
  const problem = formProblem(pattern, 'write * to match every tool');
  if (problem !== undefined) return { problem };
  const colon = pattern === continueTool ? -1 : pattern.indexOf(':');
  const name = compileGlob(colon === -1 ? pattern : pattern.slice(0, colon));
  if ('problem' in name) return name;
  const args = colon === -1 ? undefined : compileGlob(pattern.slice(colon + 1));
  if (args !== undefined && 'problem' in args) return args;
  const wildcards = name.wildcards + (args?.wildcards ?? 0);
  if (wildcards > maxWildcards) return { problem: `has ${wildcards} wildcards; at most ${maxWildcards} are allowed` };
  return args === undefined ? { name } : { name, args };
}

/** Compiles the glob of one argument, within the limits of patterns. */
export function compileFieldGlob(source: string): Glob | { problem: string } {
  const problem = formProblem(source, 'write * to match any value');
  if (problem !== undefined) return { problem };
  const glob = compileGlob(source);
  if ('problem' in glob || glob.wildcards <= maxWildcards) return glob;
  return { problem: `has ${glob.wildcards} wildcards; at most ${maxWildcards} are allowed` };
}

/** Why the form of a pattern or glob is refused, as a clause; undefined if it is accepted. */
function formProblem(pattern: string, remedy: string): string | undefined {
  // Comes before NFC, which takes time. No permitted pattern is longer than this before NFC.
  if (pattern.length > maxPatternLength * 8) return tooLong(pattern.length);
  if (pattern.trim() === '') return `is empty: ${remedy}`;
  if (pattern.trim() !== pattern) return 'begins or ends with a blank';
  const length = Array.from(nfc(pattern)).length;
  if (length > maxPatternLength) return tooLong(length);
  const [posix] = posixClass.exec(pattern) ?? [];
  return posix && `holds ${posix}, which is not part of the language: write [0-9] or the like`;
}

function tooLong(length: number): string {
  return `has ${length} characters; at most ${maxPatternLength} are allowed`;
}

/** Returns whether the call matches, or, as a clause, why that cannot be decided; the caller then fails closed (I2). */
export function matches(pattern: CompiledPattern, subjects: CallSubjects): boolean | { problem: string } {
  const named = affordable(pattern.name, subjects.name, subjects);
  if (named !== true || pattern.args === undefined) return named;
  return affordable(pattern.args, subjects.args(), subjects);
}

/** Matches a glob against one of the call's texts if `maxRulingWork` has room for it; else returns a problem. */
export function affordable(
  glob: Glob,
  subject: GlobSubject,
  subjects: CallSubjects,
  reading: ListReading = 'any',
): boolean | { problem: string } {
  const work = matchWork(glob, subject);
  // A match beyond `maxMatchWork` is refused at once, so it costs nothing.
  if (work > maxMatchWork || subjects.afford(work)) return metered(glob, subject, subjects, reading);
  return { problem: 'the arguments are too long for so many rules' };
}

/** Matches a glob without a check of the budget, which the caller has made, and counts the work. */
export function metered(
  glob: Glob,
  subject: GlobSubject,
  { meter }: CallSubjects,
  reading: ListReading,
): boolean | { problem: string } {
  meter.work += workDone(glob, subject);
  return readingMatches(glob, subject, reading);
}

/**
 * A copy of the subjects whose first use of the arguments' text pays for the matches of all patterns with that text.
 * `patternsLength`: the sum of the patterns' lengths. If the budget does not cover that, the text becomes a problem.
 */
export function boundedSubjects(subjects: CallSubjects, patternsLength: number): CallSubjects {
  let bounded: GlobSubject | undefined;
  return {
    ...subjects,
    args: () => {
      if (bounded !== undefined) return bounded;
      const text = subjects.args();
      const work = patternsLength * lengthOf(text);
      return (bounded = subjects.afford(work) ? text : { problem: 'the arguments are too long for so many rules' });
    },
  };
}

/** A copy of the subjects for one part of a command: patterns see `text` in the place of the whole command. */
export function partSubjects(subjects: CallSubjects, subject: string | undefined, text: string): CallSubjects {
  return withSubject(subjects, subject, globSubject(text));
}

/** The same as `partSubjects`, for a text that is prepared already. */
export function withSubject(subjects: CallSubjects, subject: string | undefined, part: GlobSubject): CallSubjects {
  return { ...subjects, args: () => part, field: (name) => (name === subject ? part : subjects.field(name)) };
}

/** Prepares a call for one ruling. Each text is prepared on first use. Matches add their work to `meter`. */
export function callSubjects(
  call: { tool: string; args: JsonObject; subject?: string },
  meter: RulingMeter = { work: 0 },
): CallSubjects {
  let whole: GlobSubject | undefined;
  const fields = new Map<string, GlobSubject>();
  let spent = 0;
  const field = (name: string): GlobSubject => {
    const known = fields.get(name);
    if (known !== undefined) return known;
    // Own properties only: `constructor` and the like are not arguments.
    const value = Object.hasOwn(call.args, name) ? call.args[name] : undefined;
    const made = value === undefined ? { problem: `argument '${name}' is missing` } : subjectOf(value);
    fields.set(name, made);
    return made;
  };
  return {
    subject: call.subject,
    name: globSubject(call.tool),
    args: () => (call.subject === undefined ? (whole ??= valueSubject(call.args)) : field(call.subject)),
    field,
    afford: (work) => (spent += work) <= maxRulingWork,
    meter,
  };
}

function subjectOf(value: Json): GlobSubject {
  if (!Array.isArray(value)) return valueSubject(value);
  const written = writeCanonicalJson(value);
  return 'problem' in written ? written : listSubject(written.text, elementsOf(value).map(valueSubject));
}

/** The elements of a list and of all lists in it, empty ones included. Canonical JSON limits the depth. */
function elementsOf(list: readonly Json[]): Json[] {
  return list.flatMap((item) => (Array.isArray(item) && item.length > 0 ? elementsOf(item) : [item]));
}

function valueSubject(value: Json): GlobSubject {
  if (typeof value === 'string') return globSubject(value);
  const written = writeCanonicalJson(value);
  return 'problem' in written ? written : globSubject(written.text);
}
