import type { Command } from 'commander';
import { escapeText } from '../../core/base/escape-text.ts';
import { type ClientFlags, withClient, withClientFlags } from './command-line.ts';

/** `countersign doctor`: says whether the server, a worker and the codec are what the commands need. */
export function addDoctor(program: Command): void {
  withClientFlags(program.command('doctor'))
    .description(
      'check the server, the search attributes, the workers and the codec; exit code 1 if something is wrong',
    )
    .option('--task-queue <name>', 'where runs start (default: that of the module, else countersign)')
    .action((options: ClientFlags & { taskQueue?: string }) =>
      withClient(options, async (client, output) => {
        for (const { check, isOk, message } of await client.check()) {
          if (!isOk) process.exitCode = 1;
          if (!output.forPeople) output.json({ check, ok: isOk, message });
          else
            output.line(`${output.style(isOk ? 'green' : 'red', isOk ? '✓' : '✗')} ${check}: ${escapeText(message)}`);
        }
      }),
    );
}
