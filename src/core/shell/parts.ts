import { fits, type Shape, type ShapeOf } from '../base/shape.ts';

/**
 * A shell command is split where a call's arguments are parsed (`splitShell`), the run records the split, and the
 * ruling reads it: nothing here parses. How a layer answers for it:
 *
 * 1. Each of `parts` gets its own answer: its last rule that counts, in the order of the rules. If `uncertain` is not
 *    empty, the raw text is one more part. The layer's answer is the strictest of these.
 * 2. An ask or deny rule counts for a part if it matches the part's `text`, its `reduced`, or the raw text.
 * 3. An allow rule counts for a part if it matches the part's `text`. If the rule has wildcards, its blanks match only
 *    blanks between words (`wordText`). A rule without an args pattern (`bash`) matches every part.
 * 4. If `uncertain` is not empty, no allow rule with an args pattern counts, with one exception: all that is uncertain
 *    is a wrapper program and its options, and the pattern holds the name of each wrapper around the part as a word
 *    before its first wildcard. These are the part's own `wrapper`, then that of the part it is `within`, and so on.
 *    Such a rule counts for what it names and no more (policy/part-matchers.ts). It counts for the raw text if it
 *    matches the raw text and holds the names of all `wrapper`s of the command.
 * 5. An allow rule that matches the command does not count if the call brings arguments beside it that the tool did not
 *    declare harmless and the rule does not name. The answer to the part is then `ask` or stricter.
 * 6. If the split is not complete (`incompleteSplit`), each rule with an args pattern that denies or asks cannot be
 *    evaluated for what is missing, unless it matches the raw text.
 * 7. If no rule counts for a part, the answer is `ask` or stricter, whatever the risk default or the mode says; only
 *    the modes `bypassPermissions` and `auto_approve` allow it.
 */
export interface ShellSplit {
  /** In the order of the text, each wrapper before its contents; at most 256. */
  parts: ShellPart[];
  /** Empty: `parts` are exactly what runs. Otherwise the reasons why that is uncertain, each once. */
  uncertain: Uncertainty[];
}

/** Stands for a blank inside a word, in `wordText`. */
export const blankInWord = '\u2420';

/** A simple command: its words after quote removal, joined by single spaces, without assignments and redirections. */
export interface ShellPart {
  text: string;
  /** `text` with U+2420 for each blank inside a word. Absent if no word has one. */
  wordText?: string;
  /** `text` with the program's path reduced to its last segment: `rm x` for `/bin/rm x`. */
  reduced: string;
  /**
   * The program of this part, or of the part around it, if it starts other programs. Without its path, but with the
   * option or subcommand that makes it a wrapper: `find -exec`, `git -c`, `docker exec`.
   */
  wrapper?: string;
  /** Index in `parts` of the wrapper that contains this part. */
  within?: number;
  /** The part's range in the `text` of its wrapper; parts of one shell text share a range. Absent: not in that text. */
  at?: [from: number, to: number];
  /** True: the wrapper has an option that is not in the table. Its command could begin at each part within it. */
  unknownOption?: true;
}

const partShape = {
  text: 'string',
  'wordText?': 'string',
  reduced: 'string',
  'wrapper?': 'string',
  'within?': 'number',
  'at?': ['number'],
} satisfies ShapeOf<ShellPart>;

/** Each `within` refers to an earlier part, so that code that follows it from part to part comes to an end. */
const partsShape: Shape = (value) =>
  fits(value, [partShape]) && (value as ShellPart[]).every(({ within = -1 }, index) => within < index);

export const shellShape: Shape = { parts: partsShape, uncertain: 'texts' } satisfies ShapeOf<ShellSplit>;

/** Why the parts of a command may not be exactly what runs. */
export type Uncertainty =
  /** The text is longer than `maxShellLength`, or has more parts or possible beginnings of commands than the limits. */
  | 'too long'
  /** Nothing runs: empty, or only a comment. */
  | 'no command'
  | 'parse error'
  /** NUL, carriage return and the like, which some shells drop and others keep. */
  | 'control character'
  /** The program is known only at run time: `$x`, `*m`, `~/a`, `{rm,x}`; or it is no name: empty, or with a blank. */
  | 'dynamic command name'
  /** The substitution of a command or a process. Its commands are parts. */
  | 'substitution'
  /** A parameter, arithmetic or braces are expanded: the text is not what runs. Globs do not count: they name files. */
  | 'expansion'
  | 'redirection to a file'
  /** `<file`, with which bash can also open a network connection. */
  | 'redirection from a file'
  /** Before a command, alone (`PATH=/tmp; ls`), by a loop or by a builtin (`read`, `export`). Later commands see it. */
  | 'assignment'
  /** A program that starts other programs or runs code. */
  | 'wrapper program'
  /** A wrapper has an option that is not in the table. Every place where its command could begin is a part. */
  | 'unknown option'
  /** Text that bash and POSIX sh read differently, such as `((rm x))`, `[[`, `$'…'`. */
  | 'not the same in every shell'
  | 'not split';

const incomplete: readonly Uncertainty[] = ['too long', 'parse error', 'not split', 'control character'];

/** The reason why commands may be missing from the parts; undefined if none is missing. */
export function incompleteSplit({ uncertain }: ShellSplit): Uncertainty | undefined {
  return uncertain.find((reason) => incomplete.includes(reason));
}

/** The text that allow rules with wildcards match: blanks of theirs must match only between words. */
export function allowedText({ text, wordText = text }: ShellPart): string {
  return wordText;
}

/** Maximum length of a shell text, in UTF-16 code units. */
export const maxShellLength = 16_384;
export const maxShellParts = 256;
/** The most UTF-16 units of all `text` and `reduced` of a split, which the run's history records. */
export const maxPartsLength = 65_536;

/** The split of a call that reached the gate without one: no rule with an args pattern can allow such a call. */
export const notSplit: ShellSplit = { parts: [], uncertain: ['not split'] };
