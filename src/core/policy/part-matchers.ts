/** How rules apply to the parts of a split command, by points 1 to 4 in shell/parts.ts. */
import { ruleMatches, type Candidate, type CompiledRule, type RuleFacts } from './compiled-policy.ts';
import { separator } from '../match/glob-syntax.ts';
import { type Glob, type GlobSubject, globSubject, segmentedSubject } from '../match/glob.ts';
import { boundedSubjects, partSubjects, withSubject, type CallSubjects } from '../match/matching.ts';
import { allowedText, incompleteSplit, type ShellPart, type ShellSplit, type Uncertainty } from '../shell/parts.ts';

type Match = boolean | { problem: string };
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

/**
 * Returns a matcher for each part of a command, and one for the raw text if the split is uncertain or empty. A call
 * that is no command, or whose command is not text, gets a single matcher. An ask or a deny is compared with the part
 * and the raw text, an allow with the part alone (shell/parts.ts).
 */
export function partMatchers({ subject, shell, subjects: unbounded, facts, argsLength }: MatchedCall): PartMatcher[] {
  const subjects = boundedSubjects(unbounded, argsLength);
  const matched = new Map<Candidate, Match>();
  /** Matches the whole text. The results are cached, so that each rule is tried once for all parts. */
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
  // If only wrappers and their options make the split uncertain, an allow rule may count: point 4 in shell/parts.ts.
  const isOfWrapper = (reason: Uncertainty): boolean => reason === 'wrapper program' || reason === 'unknown option';
  const onlyWrapped = uncertain.length > 0 && uncertain.every(isOfWrapper);
  const wrapped = onlyWrapped ? new WrappedParts(parts) : undefined;

  const ofParts = parts.map((part, index): PartMatcher => (candidate) => {
    if (candidate.rule.action !== 'allow') return matchStrictly(candidate, [part.text, part.reduced]);
    const globs = subjectGlobs(candidate.rule, subject);
    // A rule without a glob on the command matches every part, however uncertain the split is.
    if (globs.length === 0 || uncertain.length === 0) {
      const hasWildcards = globs.some(({ wildcards }) => wildcards > 0);
      return textMatch(candidate, hasWildcards ? allowedText(part) : part.text);
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
  // The raw text is one more part, so that no allow rule covers what the split may have missed.
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

/** The globs that a rule has on the command: that of its pattern, and those on the subject argument. */
export function subjectGlobs({ pattern, fields }: CompiledRule, subject: string | undefined): Glob[] {
  const own = pattern.args === undefined ? [] : [pattern.args];
  return [...own, ...fields.flatMap(({ name, glob }) => (name === subject && !('problem' in glob) ? [glob] : []))];
}

/** True if the globs contain, before a wildcard, every word of every name (`find -exec`), perhaps after a path. */
function writesOut(globs: readonly Glob[], names: readonly string[]): boolean {
  const words = globs.flatMap(({ literals }) => literals[0]!.slice(separator.length).split(/\s+/));
  const written = new Set(words.map((word) => word.split(separator).at(-1)));
  return names.every((name) => name.split(/\s+/).every((word) => written.has(word)));
}

/** True if any of the matches is true; else the first problem; else false. The matches run in order, as needed. */
function firstMatch(matches: readonly (() => Match)[]): Match {
  let result: Match = false;
  for (const match of matches) {
    const found = match();
    if (found === true) return true;
    if (result === false) result = found;
  }
  return result;
}

/** To cover one part, an allow rule has to match one of `subjects` and to name all `wrappers`. */
interface Cover {
  subjects: GlobSubject[];
  wrappers: string[];
}

/** A part in the outermost text: `segments` divide that text, and `from` is where the part begins in it. */
interface Place {
  segments: Parameters<typeof segmentedSubject>;
  from: number;
}

/**
 * The parts of a split that has wrappers. An allow rule that names a wrapper covers only the commands that it names:
 * `find . -exec ls*` covers `find` and `ls`, each by its own words. So its pattern is matched against the wrapper's
 * text in segments (before the inner command, the command, after it), and no `*` reaches into the next (match/glob.ts).
 * After an option that is not in the table, any word could begin the command. Then the last word that the rule begins
 * before its first wildcard does: by `docker exec -it box ls*`, `ls` is the command.
 */
class WrappedParts {
  readonly #parts: readonly ShellPart[];
  /** For each part, the parts right within it. */
  readonly #inner: readonly number[][];
  readonly #places: readonly (Place | undefined)[];

  constructor(parts: readonly ShellPart[]) {
    this.#parts = parts;
    this.#inner = parts.map(() => []);
    for (const [index, { within = -1 }] of parts.entries()) this.#inner[within]?.push(index);
    this.#places = parts.map((_, index) => this.#placeOf(index));
  }

  /** What a rule has to match and name to cover one part. `globs`: those of the rule on the command. */
  coverOf(index: number, globs: readonly Glob[]): Cover {
    const chain = this.#chainOf(index);
    const hasWildcards = globs.some(({ wildcards }) => wildcards > 0);
    const whole = hasWildcards ? [] : chain.map((each) => globSubject(this.#parts[each]!.text));
    const { starts, around } = this.#starts(chain, globs);
    const ends = starts.flatMap((start) => this.#ends(start, globs));
    return {
      subjects: [...whole, ...ends.map((end) => segmentedSubject(...this.#places[end]!.segments))],
      wrappers: around.flatMap((each) => this.#parts[each]!.wrapper ?? []),
    };
  }

  /**
   * Returns the part itself. But if it is a wrapper with an unknown option, or one of the words after such an option
   * and the rule begins the command at another word, the rule's commands take its place. `around`: what to name.
   */
  #starts(chain: readonly number[], globs: readonly Glob[]): { starts: number[]; around: readonly number[] } {
    const at = chain.findLastIndex((each, position) => {
      if (this.#parts[each]!.unknownOption !== true) return false;
      return !this.#commandsBegunBy(each, globs).includes(chain[position - 1]!);
    });
    if (at === -1) return { starts: chain.slice(0, 1), around: chain };
    return { starts: this.#commandsBegunBy(chain[at]!, globs), around: chain.slice(at) };
  }

  /** The commands at or within a part that start no further commands, and whose place is known. */
  #ends(start: number, globs: readonly Glob[]): number[] {
    const ends: number[] = [];
    const seen = new Set<number>();
    const visit = (each: number): void => {
      if (seen.has(each)) return;
      seen.add(each);
      const isUnknown = this.#parts[each]!.unknownOption === true;
      const inner = isUnknown ? this.#commandsBegunBy(each, globs) : this.#inner[each]!;
      // After an unknown option, the wrapper is no command of its own: what the rule takes for its command is.
      const isEnd = inner.length === 0 && !isUnknown && this.#places[each] !== undefined;
      if (isEnd && !(this.#startsNothing(each) && globs.some(namesWordsAfterWildcard))) ends.push(each);
      for (const next of inner) visit(next);
    };
    visit(start);
    return ends;
  }

  /** True for a wrapper that starts no command (`docker run image`): there, a word after a wildcard is an operand. */
  #startsNothing(index: number): boolean {
    const { wrapper, reduced, within } = this.#parts[index]!;
    if (wrapper === undefined || firstWord(wrapper) !== firstWord(reduced)) return false;
    return within === undefined || !this.#isSameProgram(index, within);
  }

  /**
   * True if a part runs the same program as the wrapper around it, as `git status` does in `git -C dir status`. The
   * place of the part must be known.
   */
  #isSameProgram(index: number, outer: number): boolean {
    const { text: own, at } = this.#parts[index]!;
    const { text } = this.#parts[outer]!;
    return own === `${firstWord(text)} ${text.slice(...at!)}`;
  }

  /** The parts within a wrapper with an unknown option that begin where the rule expects the command. */
  #commandsBegunBy(wrapper: number, globs: readonly Glob[]): number[] {
    return this.#inner[wrapper]!.filter((each) =>
      globs.every((glob) => this.#places[each]?.from === commandPlace(glob)),
    );
  }

  /** The part, then the wrappers around it, inside out. Bounded, because a split from outside could have a cycle. */
  #chainOf(index: number): number[] {
    const chain = [index];
    let outer = this.#parts[index]!.within;
    while (outer !== undefined && this.#parts[outer] !== undefined && chain.length < this.#parts.length) {
      chain.push(outer);
      outer = this.#parts[outer]!.within;
    }
    return chain;
  }

  /** Where a part is in the commands around it; undefined if that is not known for one of them. */
  #placeOf(index: number): Place | undefined {
    const chain = this.#chainOf(index);
    if (this.#parts[chain.at(-1)!]!.within !== undefined) return undefined;
    let texts = [allowedText(this.#parts[index]!)];
    let command = 0;
    let isSameProgram = false;
    let from = 0;
    // From the part outwards, each wrapper adds its own text before and after the command within it.
    for (const [position, outer] of chain.slice(1).entries()) {
      const { at } = this.#parts[chain[position]!]!;
      if (at === undefined) return undefined;
      const text = allowedText(this.#parts[outer]!);
      const [before, there, after] = [text.slice(0, at[0]), text.slice(...at), text.slice(at[1])];
      from += before.length;
      // The text of such a part begins with the program's name, which is not in its place.
      const isSame = position === 0 && this.#isSameProgram(index, outer);
      texts = [before, ...(isSame ? [there] : texts), after];
      command += 1;
      isSameProgram ||= isSame;
    }
    return { segments: [texts, { command, isSameProgram }], from };
  }
}

function firstWord(text: string): string {
  return text.split(' ', 1)[0]!;
}

function namesWordsAfterWildcard({ literals }: Glob): boolean {
  return literals.slice(1).some((literal) => literal.includes(' '));
}

/** Returns the offset of the last word in the glob's text before its first wildcard. */
function commandPlace({ literals }: Glob): number {
  return literals[0]!.slice(separator.length).lastIndexOf(' ') + 1;
}
