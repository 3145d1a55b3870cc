import { Command } from 'commander';

/**
 * Refuses a mistyped subcommand of a group that has a default command, with a hint. Commander takes the word for an
 * argument of the default command and says only that there are too many. Help names the default command.
 */
export function refuseMistyped(group: Command, defaultCommand: string): void {
  const name = group.name();
  group.addHelpText('after', `\n\`${name}\` alone is \`${name} ${defaultCommand}\`, with its arguments and flags.`);
  group.hook('preSubcommand', ({ args }, chosen) => {
    const firstFlag = args.findIndex((word) => word.startsWith('-'));
    const words = firstFlag === -1 ? args : args.slice(0, firstFlag);
    if (words[0] !== chosen.name() && words.length > chosen.registeredArguments.length) refuse(group, words);
  });
}

/** Throws commander's error for an unknown command. */
function refuse(group: Command, words: readonly string[]): void {
  const withoutDefault = new Command().exitOverride().configureOutput({ outputError: () => undefined });
  for (const command of group.createHelp().visibleCommands(group)) withoutDefault.command(command.name());
  withoutDefault.parse(words, { from: 'user' });
}
