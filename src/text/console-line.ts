/** An answer to a request that is typed as one line at a terminal. */
export type ConsoleAnswer = 'approve' | 'always' | 'deny' | 'skip';

/** How long a question is visible before an answer counts, in ms: earlier input was for the question before. */
export const armingMs = 500;

const words: Readonly<Record<ConsoleAnswer, readonly string[]>> = {
  approve: ['a', 'approve', 'yes', 'y'],
  always: ['always'],
  deny: ['d', 'deny', 'no', 'n'],
  skip: ['s', 'skip'],
};
const answers = Object.entries(words) as [ConsoleAnswer, readonly string[]][];

/** The most characters of a line: enough for the longest word and some blanks. */
const longestLine = 100;

/** The valid words, for the sentence with which the question is asked again. */
export const consoleLineHelp = 'a or yes approves, A or always approves calls like it too, d or no denies, s skips';

/**
 * Reads one line; undefined if it is no answer, so that the caller asks again. Case matters only for `A` and `a`.
 *
 * @example
 * readConsoleLine(' yes '); // => 'approve'
 * readConsoleLine('A'); // => 'always'
 * readConsoleLine('') ?? 'ask again'; // => 'ask again'
 */
export function readConsoleLine(line: string): ConsoleAnswer | undefined {
  if (line.length > longestLine) return undefined;
  const word = line.replace(/^[ \t]+|[ \t\r\n]+$/g, '');
  if (word === 'A') return 'always';
  // Only ASCII letters get lower case: Unicode would also turn U+212A, the Kelvin sign, into a k.
  const lower = word.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return answers.find(([, known]) => known.includes(lower))?.[0];
}
