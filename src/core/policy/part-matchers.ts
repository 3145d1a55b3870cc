/** How rules apply to the parts of a split command: points 1 to 4 in shell/parts.ts. */
import { ruleMatches, type Candidate, type CompiledRule, type RuleFacts } from './compiled-policy.ts';
import { separator } from '../match/glob-syntax.ts';
import type { Glob, GlobSubject } from '../match/glob.ts';
import { boundedSubjects, partSubjects, withSubject, type CallSubjects } from '../match/matching.ts';
import { allowedText, incompleteSplit, type ShellPart, type ShellSplit, type Uncertainty } from '../shell/parts.ts';
import { WrappedParts } from './wrapped-parts.ts';

export type Match = boolean | { problem: string };
/** Returns whether a rule applies to one part of a call. */
export type PartMatcher = (candidate: Candidate) => Match;

/** A call prepared for matching. `subject` names the argument that `name:args` patterns see. */
export interface MatchedCall {
  subject: string | undefined;
  /** Set if the tool's subject is a shell command. */
  shell: ShellSplit | undefined;
  subjects: CallSubjects;
  facts: RuleFacts;
  /** The `argsLength` of the candidates; see `boundedSubjects`. */
  argsLength: number;
}

/** One matcher for each part of a command; a single one for any other call, and for a command that is not text. */
export function partMatchers({ subject, shell, subjects: unbounded, facts, argsLength }: MatchedCall): PartMatcher[] {
  const subjects = boundedSubjects(unbounded, argsLength);
  const matched = new Map<Candidate, Match>();
  /** Matches the whole text. Cached, so that parts do not multiply the cost. */
  const whole: PartMatcher = (candidate) => {
    let found = matched.get(candidate);
    if (found === undefined) matched.set(candidate, (found = ruleMatches(candidate, subjects, facts)));
    return found;
  };
  if (shell === undefined || 'problem' in unbounded.args()) return [whole];
  const { parts, uncertain } = shell;
  const subjectsOf = new Map<string, CallSubjects>();
  const textMatch = (candidate: Candidate, text: string): Match => {
    let made = subjectsOf.get(text);
    if (made === undefined) {
      made = boundedSubjects(partSubjects(unbounded, subject, text), argsLength);
      subjectsOf.set(text, made);
    }
    return ruleMatches(candidate, made, facts);
  };
  const matchStrictly = (candidate: Candidate, texts: string[]): Match =>
    firstMatch([...texts.map((text) => () => textMatch(candidate, text)), () => whole(candidate)]);
  const isOfWrapper = (reason: Uncertainty): boolean => reason === 'wrapper program' || reason === 'unknown option';
  const onlyWrapped = uncertain.length > 0 && uncertain.every(isOfWrapper);
  const wrapped = onlyWrapped ? new WrappedParts(parts) : undefined;

  const ofParts = parts.map((part, index): PartMatcher => (candidate) => {
    if (candidate.rule.action !== 'allow') return matchStrictly(candidate, [part.text, part.reduced]);
    const globs = subjectGlobs(candidate.rule, subject);
    if (globs.length === 0 || uncertain.length === 0) {
      const spelled = globs.every(({ wildcards }) => wildcards === 0);
      return textMatch(candidate, spelled ? part.text : allowedText(part));
    }
    if (wrapped === undefined) return false;
    const { subjects: covered, wrappers } = wrapped.coverOf(index, globs);
    if (!writesOut(globs, wrappers)) return false;
    return firstMatch(
      covered.map((each) => () => {
        const made = boundedSubjects(withSubject(unbounded, subject, each), argsLength);
        return ruleMatches(candidate, made, facts);
      }),
    );
  });
  if (uncertain.length === 0 && ofParts.length > 0) return ofParts;
  const missing = incompleteSplit(shell);
  const unseen: GlobSubject = { problem: `the command could not be split completely (${missing})` };
  const ofRawText: PartMatcher = (candidate) => {
    if (missing !== undefined && candidate.rule.action !== 'allow') {
      // The parts that are missing from the split may or may not match.
      return firstMatch([
        () => whole(candidate),
        () => ruleMatches(candidate, withSubject(unbounded, subject, unseen), facts),
      ]);
    }
    const globs = candidate.rule.action === 'allow' ? subjectGlobs(candidate.rule, subject) : [];
    return globs.length === 0 || (onlyWrapped && writesOut(globs, wrappersOf(parts))) ? whole(candidate) : false;
  };
  return [...ofParts, ofRawText];
}

function wrappersOf(parts: readonly ShellPart[]): string[] {
  return parts.flatMap(({ wrapper }) => (wrapper === undefined ? [] : [wrapper]));
}

/** The globs of a rule that are matched against the command. */
export function subjectGlobs({ pattern, fields }: CompiledRule, subject: string | undefined): Glob[] {
  const own = pattern.args === undefined ? [] : [pattern.args];
  return [...own, ...fields.flatMap(({ name, glob }) => (name === subject && !('problem' in glob) ? [glob] : []))];
}

/**
 * True if the globs contain every word of every name, such as `sudo` or `find -exec`, before their first wildcard. A
 * path may precede a word.
 */
function writesOut(globs: readonly Glob[], names: readonly string[]): boolean {
  const words = globs.flatMap(({ literals }) => literals[0]!.slice(separator.length).split(/\s+/));
  const written = new Set(words.map((word) => word.split(separator).at(-1)));
  return names.every((name) => name.split(/\s+/).every((word) => written.has(word)));
}

/** True if any match is true; else the first problem; else false. */
function firstMatch(matches: readonly (() => Match)[]): Match {
  let result: Match = false;
  for (const match of matches) {
    const found = match();
    if (found === true) return true;
    if (result === false) result = found;
  }
  return result;
}
