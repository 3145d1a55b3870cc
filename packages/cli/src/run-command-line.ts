import { readFileSync } from 'node:fs';
import { Command, Help, CommanderError } from 'commander';
import { listedCommands } from './commands.ts';
import { addExamples } from './examples.ts';
import { exitCodeHelp, MissingArgumentError, reportError, UsageError, type ExitCode } from './base/output.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Returns the program, which throws instead of exiting. With `words`, loads only their command, to start fast. */
export async function createProgram(words?: readonly string[]): Promise<Command> {
  const program = new Command('countersign')
    .description('Durable human approval for the tool calls of AI agents, on Temporal.')
    .version(version)
    .exitOverride()
    .configureHelp({ subcommandTerm: (command) => Help.prototype.subcommandTerm(command).replace(' [options]', '') })
    .configureOutput({ outputError: () => undefined }); // reportError prints it, as JSON where that is wanted
  const named = words?.find((word) => listedCommands.some(({ usage }) => usage.split(' ')[0] === word));
  for (const { usage, about, load } of listedCommands) {
    const command = program.command(usage).description(about);
    if (words === undefined || command.name() === named) (await load())(command);
  }
  for (const group of program.commands.filter(({ commands }) => commands.length > 0)) {
    const text = `\nEach command has its own flags, and --json: countersign ${group.name()} COMMAND --help`;
    group.addHelpText('after', text);
  }
  addExamples(program);
  return program.addHelpText('after', exitCodeHelp());
}

/** Runs one command line. Reports an error and returns its exit code; undefined without an error. */
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
 * Parses the words and runs the command. In `countersign show --json RUN`, commander takes RUN for the value of
 * `--json`, and the argument is missing. Then this parses once more, with the two words exchanged.
 */
async function parse(words: readonly string[]): Promise<void> {
  try {
    await parseWith(words);
  } catch (error) {
    const index = words.indexOf('--json');
    const next = words[index + 1];
    const isMissing =
      error instanceof MissingArgumentError ||
      (error instanceof CommanderError && error.code === 'commander.missingArgument');
    if (!isMissing || index === -1 || next === undefined || isFlag(next)) throw error;
    await parseWith(words.with(index, next).with(index + 1, '--json'));
  }
}

async function parseWith(words: readonly string[]): Promise<void> {
  const program = await createProgram(words);
  await program.parseAsync(words, { from: 'user' });
}

function isFlag(word = ''): boolean {
  return word.startsWith('-');
}
