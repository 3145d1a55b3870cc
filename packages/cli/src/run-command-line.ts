import { CommanderError } from 'commander';
import type { ExitCode } from './base/exit-code.ts';
import { createProgram } from './program.ts';
import { MissingArgumentError, reportError, UsageError } from './base/report-error.ts';

/** Runs one command line, reports its error, and returns the exit code of that error; undefined without one. */
export async function runCommandLine(words: readonly string[]): Promise<ExitCode | undefined> {
  try {
    await parse(words);
    return undefined;
  } catch (error) {
    const json = words.some((word) => word === '--json' || word.startsWith('--json='));
    const isMisplaced = error instanceof CommanderError && error.code === 'commander.unknownOption' && isFlag(words[0]);
    const reported = isMisplaced ? new UsageError(`Flags follow the command: countersign COMMAND ${words[0]}`) : error;
    return reportError(reported, { json, debug: words.includes('--debug') });
  }
}

/**
 * `--json` may have a value, so commander takes the word after it for one. If an argument is then missing, the word is
 * that argument, as in `countersign show --json RUN`.
 */
async function parse(words: readonly string[]): Promise<void> {
  try {
    await parseWith(words);
  } catch (error) {
    const at = words.indexOf('--json');
    const after = words[at + 1];
    const isMissing =
      error instanceof MissingArgumentError ||
      (error instanceof CommanderError && error.code === 'commander.missingArgument');
    if (!isMissing || at === -1 || after === undefined || isFlag(after)) throw error;
    await parseWith(words.with(at, after).with(at + 1, '--json'));
  }
}

async function parseWith(words: readonly string[]): Promise<void> {
  const program = await createProgram(words);
  await program.parseAsync(words, { from: 'user' });
}

function isFlag(word = ''): boolean {
  return word.startsWith('-');
}
