import type { ExitCode } from './exit-code.ts';
import { createProgram } from './program.ts';
import { reportError } from './report-error.ts';

/** Runs one command line, reports its error, and returns the exit code of that error; undefined without one. */
export async function runCommandLine(words: readonly string[]): Promise<ExitCode | undefined> {
  try {
    await createProgram().parseAsync(words, { from: 'user' });
    return undefined;
  } catch (error) {
    return reportError(error, { json: words.includes('--json'), debug: words.includes('--debug') });
  }
}
