import type { Command } from 'commander';
import { UsageError } from './report-error.ts';

/** Commands that this version does not support. Each is refused in one sentence. */
const commands = ['message'];

export function refuseCommands(program: Command): void {
  for (const name of commands) {
    const refuse = (): never => {
      throw new UsageError(`\`${name}\` is not supported by this version.`);
    };
    program.command(`${name} [words...]`, { hidden: true }).allowUnknownOption().helpOption(false).action(refuse);
  }
}
