/** Maximum number of characters read of a name. */
export const longestReadName = 128;

/**
 * The words of a tool's or an argument's name, in lower case: `sendEmail`, `send_email` and `send-email` give `send`,
 * `email`. Only the first 128 characters are read.
 */
export function nameWords(name: string): string[] {
  return name
    .slice(0, longestReadName)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** True if a name holds one of these words. */
export function holdsWord(words: Iterable<string>, wanted: ReadonlySet<string>): boolean {
  for (const word of words) if (wanted.has(word)) return true;
  return false;
}

/** Words that change the meaning of the word beside them: a `file_id` is not a file, a `script_type` not a script. */
const otherThings: ReadonlySet<string> = new Set(
  'content contents text body data size type id ids count format encoding mode'.split(' '),
);

/** True if an argument's name says that its value is one of these things. */
export function isNamed(words: readonly string[], wanted: ReadonlySet<string>): boolean {
  return holdsWord(words, wanted) && !holdsWord(words, otherThings);
}

/** Verbs of tools that only look. They count only for a tool that also declares that it only reads. */
export const readingWords: ReadonlySet<string> = new Set(
  'get list read search find show fetch view check count describe lookup query preview draft'.split(' '),
);
