import { readFileSync } from 'node:fs';
import { Command, Help } from 'commander';
import { listedCommands } from './commands.ts';
import { addExamples } from './examples.ts';
import { exitCodeHelp } from './base/exit-code.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/**
 * The command line. It throws instead of exiting. With `words` it loads only the command that they name, and lists the
 * others: loading all of them takes longer than `countersign --help` may.
 */
export async function createProgram(words?: readonly string[]): Promise<Command> {
  const program = new Command('countersign')
    .description('Durable human approval for the tool calls of AI agents, on Temporal.')
    .version(version)
    .exitOverride()
    .configureHelp({ subcommandTerm: (command) => Help.prototype.subcommandTerm(command).replace(' [options]', '') })
    .configureOutput({ outputError: () => undefined }); // reportError prints it, as JSON where that is wanted
  const named = words?.find((word) => listedCommands.some((each) => nameOf(each) === word));
  for (const listed of listedCommands) {
    if (words === undefined || nameOf(listed) === named) await listed.addTo(program);
    else program.command(listed.usage).description(listed.about);
  }
  for (const group of program.commands.filter(({ commands }) => commands.length > 0)) {
    group.addHelpText(
      'after',
      `\nEach command has its own flags, and --json: countersign ${group.name()} COMMAND --help`,
    );
  }
  addExamples(program);
  return program.addHelpText('after', exitCodeHelp());
}

function nameOf({ usage }: { usage: string }): string {
  return usage.split(' ')[0]!;
}
