import { Argument, type Command } from 'commander';
import { type CommonOptions, withCommonOptions } from '../base/command-line.ts';
import { type Shell, completionScripts, shells } from './completion-scripts.ts';
import { completionWords } from './completion-words.ts';
import { processOutput } from '../base/output.ts';

/** `countersign completion SHELL`: prints a script that completes commands and flags, made from the program itself. */
export function addCompletion(program: Command): void {
  withCommonOptions(program.command('completion'))
    .description('print a script with which a shell completes commands and flags')
    .addArgument(new Argument('<shell>', 'the shell that sources it').choices(shells))
    .action((shell: Shell, options: CommonOptions) => {
      const script = completionScripts[shell](completionWords(program));
      if (options.json === undefined) process.stdout.write(script);
      else processOutput(options).json({ shell, script });
    });
}
