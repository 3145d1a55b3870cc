import type { Command } from 'commander';
import { withCommonOptions } from '../base/command-line.ts';
import type { RedactOptions } from './redact-input.ts';

export function addRedact(command: Command): void {
  withCommonOptions(command)
    .option('--policy <file>', 'a policy file with the settings of `redact`')
    .action(async (options: RedactOptions) => {
      const { redactInput } = await import('./redact-input.ts');
      await redactInput(process.stdin, options);
    });
}
