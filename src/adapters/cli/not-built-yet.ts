import { type Command, Option } from 'commander';
import { UsageError } from './report-error.ts';

/** Commands of the contract that this version does not have yet: each is refused in one sentence, not mistaken. */
const commands = [
  'gateway',
  'dev',
  'doctor',
  'runs',
  'watch',
  'respond',
  'edit',
  'extend',
  'delegate',
  'review',
  'message',
  'close',
  'cancel',
  'grants',
  'redact',
  'audit',
  'completion',
];

export function refuseCommands(program: Command, names: readonly string[] = commands): void {
  for (const name of names) {
    const refuse = (): never => {
      throw new UsageError(`\`${name}\` is not supported by this version.`);
    };
    program.command(`${name} [words...]`, { hidden: true }).allowUnknownOption().helpOption(false).action(refuse);
  }
}

/** The same for flags. */
export function refuseFlags(command: Command, flags: readonly string[]): Command {
  for (const flag of flags) {
    const refuse = (): never => {
      throw new UsageError(`${flag} is not supported by this version.`);
    };
    command.addOption(new Option(`${flag} [value]`).argParser(refuse).preset('').hideHelp());
  }
  return command;
}
