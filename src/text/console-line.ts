/** The answer in one line, typed at a terminal, to a request. */
export type ConsoleAnswer = 'approve' | 'always' | 'deny' | 'skip';

/**
 * How long a question has to be visible, without a premature answer, before an answer counts. Input for the previous
 * request must never answer this one.
 */
export const armingMs = 500;

const words: Readonly<Record<ConsoleAnswer, readonly string[]>> = {
  approve: ['a', 'approve', 'yes', 'y'],
  always: ['always'],
  deny: ['d', 'deny', 'no', 'n'],
  skip: ['s', 'skip'],
};
const answers = Object.entries(words) as [ConsoleAnswer, readonly string[]][];

/** The longest word, and blanks. */
const longestLine = 100;

/** The words of the grammar, for a sentence that asks again. */
export const consoleLineHelp = 'a or yes approves, A or always approves calls like it too, d or no denies, s skips';

/**
 * Reads one line. Undefined: the line is unknown, so the question is asked again; an empty line never answers. Only a
 * single `A` depends on its case.
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
  // Not by the rules of a language: U+212A, the Kelvin sign, is not a k.
  const lower = word.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return answers.find(([, known]) => known.includes(lower))?.[0];
}
