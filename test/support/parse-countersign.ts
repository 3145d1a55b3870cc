import type { Command } from 'commander';
import { createProgram } from '../../src/adapters/cli/program.ts';

const silent = { writeOut: () => {}, writeErr: () => {} };

/** Where arguments may be left out, because the command is only named. */
const nothingLacking = ['commander.missingArgument', 'commander.missingMandatoryOptionValue', 'commander.help'];

/** What the real command line says against these words, without doing what they say; undefined if it takes them. */
export async function countersignProblem(words: readonly string[], isWhole: boolean): Promise<string | undefined> {
  const program = createProgram();
  doNothing(program);
  try {
    await program.parseAsync(words, { from: 'user' });
    return undefined;
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    return !isWhole && nothingLacking.includes(code) ? undefined : message;
  }
}

/** Hidden commands stay as they are: they say that they are not there yet. */
function doNothing(command: Command): void {
  command.configureOutput(silent);
  for (const each of command.commands) {
    const isHidden = !command.createHelp().visibleCommands(command).includes(each);
    if (isHidden) continue;
    if (each.commands.length === 0) each.action(() => {});
    doNothing(each);
  }
}
