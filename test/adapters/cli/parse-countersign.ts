import type { Command } from 'commander';
import { createProgram } from '../../../packages/cli/src/run-command-line.ts';
import { asCommandLine } from './in-process.ts';

const silent = { writeOut: () => {}, writeErr: () => {} };

/** Errors that do not count when a command is only named and its arguments may be missing. */
const nothingLacking = ['commander.missingArgument', 'commander.missingMandatoryOptionValue', 'commander.help'];

/** The real command line's objection to these words, without executing them; undefined if it accepts them. */
export async function countersignProblem(words: readonly string[], isWhole: boolean): Promise<string | undefined> {
  const program = await createProgram(words);
  doNothing(program);
  try {
    // Some flags set a variable of the environment.
    await asCommandLine(() => program.parseAsync(words, { from: 'user' }));
    return undefined;
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    if (code === 'commander.helpDisplayed') return undefined;
    return !isWhole && nothingLacking.includes(code) ? undefined : message;
  }
}

/** Hidden commands keep their action, which says that they do not exist yet. */
function doNothing(command: Command): void {
  command.configureOutput(silent);
  for (const each of command.commands) {
    const isHidden = !command.createHelp().visibleCommands(command).includes(each);
    if (isHidden) continue;
    if (each.commands.length === 0) each.action(() => {});
    doNothing(each);
  }
}
