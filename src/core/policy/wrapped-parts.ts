/**
 * What an allow rule that names a wrapper covers: what it names and no more. `find . -exec ls*` covers `find` and `ls`,
 * each by its own words, and nothing else that this `find` runs.
 *
 * So the pattern is matched against the wrapper's text in segments: what stands before the inner command, the inner
 * command, and what follows. No `*` reaches from one into the next (match/segments.ts).
 *
 * After an option that is not in the table, any word could be where the command begins. There the rule says where: at the
 * last word that it begins before its first wildcard. `docker exec -it box ls*` says that `ls` is the command.
 */
import { separator } from '../match/glob-syntax.ts';
import { globSubject, segmentedSubject, type Glob, type GlobSubject } from '../match/glob.ts';
import { allowedText, type ShellPart } from '../shell/parts.ts';

/** What an allow rule has to match, and the wrappers that it has to name, to cover one part. */
export interface Cover {
  /** One of these. Empty: the rule cannot cover the part. */
  subjects: GlobSubject[];
  wrappers: string[];
}

/** The outermost text in segments, and where a part begins in it. */
interface Place {
  segments: Parameters<typeof segmentedSubject>;
  from: number;
}

/** The parts of a split, as the texts of the wrappers around them name them. */
export class WrappedParts {
  readonly #parts: readonly ShellPart[];
  readonly #inner = new Map<number, number[]>();
  readonly #places = new Map<number, Place | undefined>();

  constructor(parts: readonly ShellPart[]) {
    this.#parts = parts;
    for (const [index, { within }] of parts.entries()) {
      if (within !== undefined) this.#inner.set(within, [...(this.#inner.get(within) ?? []), index]);
    }
  }

  /** `globs`: those of the rule that are matched against the command. */
  coverOf(index: number, globs: readonly Glob[]): Cover {
    const way = this.#way(index);
    const spelled = globs.every(({ wildcards }) => wildcards === 0);
    const whole = spelled ? way.map((each) => globSubject(this.#parts[each]!.text)) : [];
    const { starts, around } = this.#starts(way, globs);
    const ends = starts.flatMap((start) => this.#ends(start, globs));
    return {
      subjects: [...whole, ...ends.map((end) => segmentedSubject(...this.#placeOf(end)!.segments))],
      wrappers: around.flatMap((each) => this.#parts[each]!.wrapper ?? []),
    };
  }

  /**
   * The part itself. But if it is one of the words after a wrapper's unknown option, and the rule says that the command
   * begins elsewhere, it is an argument of that command, which is then looked at in its place.
   */
  #starts(way: readonly number[], globs: readonly Glob[]): { starts: number[]; around: readonly number[] } {
    for (let position = way.length - 1; position > 0; position -= 1) {
      if (this.#parts[way[position]!]!.unknownOption !== true) continue;
      const begun = this.#begunBy(way[position]!, globs);
      if (!begun.includes(way[position - 1]!)) return { starts: begun, around: way.slice(position) };
    }
    return { starts: way.slice(0, 1), around: way };
  }

  /** The commands at or in a part that start no others. */
  #ends(start: number, globs: readonly Glob[]): number[] {
    const ends: number[] = [];
    const seen = new Set<number>();
    const visit = (each: number): void => {
      if (seen.has(each)) return;
      seen.add(each);
      const isUnknown = this.#parts[each]!.unknownOption === true;
      const inner = isUnknown ? this.#begunBy(each, globs) : (this.#inner.get(each) ?? []);
      const isEnd = inner.length === 0 && !isUnknown && this.#placeOf(each) !== undefined;
      if (isEnd && !(this.#startsNothing(each) && globs.some(namesWordsAfterWildcard))) ends.push(each);
      for (const next of inner) visit(next);
    };
    visit(start);
    return ends;
  }

  /**
   * True for a wrapper without a command, such as `docker run image`: there a word that a rule has after a wildcard would
   * name an operand in place of the command.
   */
  #startsNothing(index: number): boolean {
    const { wrapper, reduced, within } = this.#parts[index]!;
    if (wrapper === undefined || firstWord(wrapper) !== firstWord(reduced)) return false;
    return within === undefined || !this.#isSameProgram(index, within);
  }

  /** `git status` in `git -C dir status` is the same program, not one that it starts. */
  #isSameProgram(index: number, outer: number): boolean {
    const { text: own, at } = this.#parts[index]!;
    const { text } = this.#parts[outer]!;
    return at !== undefined && own === `${firstWord(text)} ${text.slice(...at)}`;
  }

  /** The command of a wrapper with an unknown option: it begins where the rule says. */
  #begunBy(wrapper: number, globs: readonly Glob[]): number[] {
    return (this.#inner.get(wrapper) ?? []).filter((each) =>
      globs.every((glob) => this.#placeOf(each)?.from === commandPlace(glob)),
    );
  }

  /** The part and the wrappers around it, inside out. A split that came with the call could contain a cycle. */
  #way(index: number): number[] {
    const way = [index];
    let outer = this.#parts[index]!.within;
    while (outer !== undefined && this.#parts[outer] !== undefined && way.length < this.#parts.length) {
      way.push(outer);
      outer = this.#parts[outer]!.within;
    }
    return way;
  }

  /** The outermost text in segments, and where the part begins in it. */
  #placeOf(index: number): Place | undefined {
    if (!this.#places.has(index)) this.#places.set(index, this.#findPlace(index));
    return this.#places.get(index);
  }

  #findPlace(index: number): Place | undefined {
    const way = this.#way(index);
    if (this.#parts[way.at(-1)!]!.within !== undefined) return undefined;
    let texts = [allowedText(this.#parts[index]!)];
    let command = 0;
    let isSameProgram = false;
    let from = 0;
    for (const [position, outer] of way.slice(1).entries()) {
      const { at } = this.#parts[way[position]!]!;
      if (at === undefined) return undefined;
      const text = allowedText(this.#parts[outer]!);
      const [before, there, after] = [text.slice(0, at[0]), text.slice(...at), text.slice(at[1])];
      from += before.length;
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
