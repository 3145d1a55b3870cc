import type { Command } from 'commander';

/** The words that can follow one command. */
export interface CompletionWords {
  /** The words of the command after `countersign`, each after a slash: `/approvals/show`; empty for the program. */
  path: string;
  commands: Word[];
  flags: Flag[];
}

export interface Word {
  word: string;
  about: string;
}

export interface Flag extends Word {
  /** True if a value has to follow. */
  needsValue: boolean;
  /** The values to choose from; empty: any. */
  values: readonly string[];
}

/** Every command that help shows, from the program down, with its subcommands and flags. */
export function completionWords(command: Command, path = ''): CompletionWords[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  // Without a subcommand, a group does this, and takes its flags.
  const listing = commands.find((each) => ['list', 'export'].includes(each.name()));
  const flags = [command, ...(listing === undefined ? [] : [listing])].flatMap((each) => help.visibleOptions(each));
  const own = {
    path,
    commands: commands.map((each) => ({ word: each.name(), about: firstLine(each.description()) })),
    flags: flags.flatMap(({ long, required, argChoices = [], description }) =>
      long == null ? [] : [{ word: long, about: firstLine(description), needsValue: required, values: argChoices }],
    ),
  };
  const flagsOnce = own.flags.filter((flag, at) => own.flags.findIndex(({ word }) => word === flag.word) === at);
  const named = commands.filter((each) => command.commands.includes(each)); // not the `help` that commander adds
  return [{ ...own, flags: flagsOnce }, ...named.flatMap((each) => completionWords(each, `${path}/${each.name()}`))];
}

function firstLine(text: string): string {
  return text.split('\n')[0]!;
}
