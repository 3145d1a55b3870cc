/**
 * What a shell command is split into before rules are matched (policy section 2). `splitShell` makes it where a call's
 * arguments are parsed, the run records it, and the ruling in the workflow reads it: so nothing here parses.
 *
 * How a layer answers for a split command:
 *
 * 1. Each of `parts` gets its own answer: its last rule that counts, in the order of the rules. Where `uncertain` is
 *    not empty, the raw text is one part more. The layer's answer is the strictest of these.
 * 2. An ask or deny rule counts for a part when it matches the part's `text`, its `reduced`, or the raw text.
 * 3. An allow rule counts for a part when it matches the part's `text`. A rule without an args pattern (`bash`)
 *    matches every part.
 * 4. Where `uncertain` is not empty, no allow rule with an args pattern counts, with one exception: `uncertain` is
 *    `['wrapper program']` alone, and the pattern writes out the name of each wrapper on the part's way as a word
 *    before its first wildcard. That way is the part's own `wrapper`, then that of the part it is `within`, and so on.
 *    Such a rule counts for a part when it matches the part's `text` or that of a part on its way; for the raw text it
 *    counts when it matches the raw text and writes the names of all `wrapper`s of the command.
 * 5. A part for which no rule counts is at least `ask`, whatever the risk default or the mode says; only the modes
 *    `bypassPermissions` and `auto_approve` allow it.
 */
export interface ShellSplit {
  /** In the order of the text, what contains before what it contains; at most `maxShellParts`. */
  parts: ShellPart[];
  /** Empty: `parts` are all that runs, word for word. Else why that cannot be said, each reason once. */
  uncertain: Uncertainty[];
}

/** A simple command: its words after quote removal, joined by one space, without assignments and redirections. */
export interface ShellPart {
  text: string;
  /** `text` with the program reduced to the last segment of its path: `rm x` for `/bin/rm x`. */
  reduced: string;
  /**
   * The program that starts others, as written but without its path: this part's, or that of the part it is `within`.
   * Where only an option or a subcommand makes it one, with that: `find -exec`, `git -c`, `docker exec`.
   */
  wrapper?: string;
  /** Index in `parts` of the wrapper that this part came out of. */
  within?: number;
}

export const uncertainties = [
  /** Longer than `maxShellLength`, or split into more than the bounds below. */
  'too long',
  /** Nothing runs: empty, or a comment. */
  'no command',
  'parse error',
  /** NUL, carriage return and the like, which shells drop or keep as they like. */
  'control character',
  /** The program is known only when the command runs: `$x`, `*m`, `~/a`, `{rm,x}`; or it is no name: empty, with a blank. */
  'dynamic command name',
  /** Of a command or a process; its commands are parts. */
  'substitution',
  /** Of a parameter, arithmetic or braces: the text is not what runs. Globs are not counted: they name files. */
  'expansion',
  'redirection to a file',
  /** `<file`: also how bash opens a network connection. */
  'redirection from a file',
  /** Before a command, alone (`PATH=/tmp; ls`), by a loop or by a builtin (`read`, `export`): later commands see it. */
  'assignment',
  /** A program that starts other programs or runs code. */
  'wrapper program',
  /** A wrapper with an option that is not known here: every place its command could begin at is a part. */
  'unknown option',
  /** Bash reads it in one way and POSIX sh in another, such as `((rm x))`, `[[`, `$'…'`. */
  'not the same in every shell',
  /** No split was recorded for this call. */
  'not split',
] as const;
export type Uncertainty = (typeof uncertainties)[number];

/** In UTF-16 code units. */
export const maxShellLength = 16_384;
export const maxShellParts = 256;
/** Code units of all `text` and `reduced` together: the split is written to the run's history. */
export const maxPartsLength = 65_536;

/** For a call that reached the gate without a split: only tool-wide rules, asks and denies count. */
export const notSplit: ShellSplit = { parts: [], uncertain: ['not split'] };
