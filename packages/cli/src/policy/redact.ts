import type { Command } from 'commander';
import { withCommonOptions } from '../base/command-line.ts';
import type { RedactOptions } from './redact-input.ts';

/** `countersign redact`: replaces what is secret or personal in the text on standard input. */
export function addRedact(program: Command): void {
  withCommonOptions(program.command('redact'))
    .description('replace what is secret or personal in standard input; --json: in the strings of JSON')
    .option('--policy <file>', 'a policy file whose `redact` says what to replace')
    .action(async (options: RedactOptions) => {
      const { redactInput } = await import('./redact-input.ts');
      await redactInput(process.stdin, options);
    });
}
