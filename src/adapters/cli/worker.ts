import type { Command } from 'commander';
import { escapeText } from '../../core/base/escape-text.ts';
import { type CommonOptions, withCommonOptions } from './command-line.ts';
import { loadConfig } from './load-config.ts';
import { processOutput } from './output.ts';

/** `countersign worker [MODULE]`: runs the agents and tools that a module exports. */
export function addWorker(program: Command): void {
  withCommonOptions(program.command('worker [module]'))
    .description('run the agents and tools of a module (default: countersign.config.ts or .js)')
    .option('--task-queue <name>', 'where to listen for runs (default: that of the module, else countersign)')
    .action(async (path: string | undefined, options: CommonOptions & { taskQueue?: string }) => {
      const output = processOutput(options);
      const { createWorker } = await import('../../worker.ts');
      const config = await loadConfig(path);
      const { address, namespace, taskQueue } = options;
      // The command line overrides the module, and the module overrides the environment.
      const worker = await createWorker({
        ...config,
        ...(address === undefined ? {} : { address }),
        ...(namespace === undefined ? {} : { namespace }),
        ...(taskQueue === undefined ? {} : { taskQueue }),
      });
      const agents = (config.agents ?? []).map(({ name }) => name);
      if (output.forPeople) output.line(`Worker of ${agents.map(escapeText).join(', ')}. Ctrl-C stops it.`);
      else output.json({ agents });
      await worker.run();
    });
}
