import type { Command } from 'commander';
import { withCommonOptions } from '../base/command-line.ts';
import type { RedactOptions } from './redact-input.ts';

/** `countersign redact`: replaces secret and personal parts of the text on standard input. */
export function addRedact(program: Command): void {
  withCommonOptions(program.command('redact'))
    .description('replace secret and personal parts of standard input; --json: of the strings in JSON')
    .option('--policy <file>', 'a policy file with the settings of `redact`')
    .action(async (options: RedactOptions) => {
      const { redactInput } = await import('./redact-input.ts');
      await redactInput(process.stdin, options);
    });
}
