import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { escapeText } from 'countersign/base';
import { type CommonOptions, withCommonOptions } from '../base/command-line.ts';
import { requireAddress } from '../base/connection-options.ts';
import { closeModule, loadWorkerModule, type WorkerModule } from '../base/load-config.ts';
import { processOutput, UsageError } from '../base/output.ts';

type WorkerCommandOptions = CommonOptions & { taskQueue?: string; bundle?: string };

export function addWorker(command: Command): void {
  withCommonOptions(command)
    .option('--task-queue <name>', 'where to listen for runs (default: that of the module, else countersign)')
    .option(
      '--bundle <file>',
      'the workflow code that bundleWorkflows made (default: that of the package, or of the module)',
    )
    .action(async (path: string | undefined, options: WorkerCommandOptions) => {
      requireAddress(options);
      const module = await loadWorkerModule(path);
      try {
        await runWorker(module, options);
      } finally {
        await closeModule(module, processOutput(options));
      }
    });
}

/** Runs a worker with the options of the module and of the command line, until a signal stops it. */
async function runWorker({ options: config }: WorkerModule, options: WorkerCommandOptions): Promise<void> {
  const output = processOutput(options);
  const { createWorker } = await import('countersign/worker');
  const { WorkerLog } = await import('./worker-log.ts');
  const { address, namespace, taskQueue } = options;
  const bundle = options.bundle === undefined ? undefined : resolve(options.bundle);
  if (bundle !== undefined && !existsSync(bundle)) throw new UsageError(`There is no file ${bundle}.`);
  // The command line overrides the module, and the module overrides the environment. --bundle also replaces the
  // workflows of the module.
  const worker = await createWorker({
    logger: new WorkerLog(output, options, config.logLevel),
    ...config,
    ...(address === undefined ? {} : { address }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(taskQueue === undefined ? {} : { taskQueue }),
    ...(bundle === undefined ? {} : { workflowBundle: { codePath: bundle }, workflowsPath: undefined }),
  });
  const agents = (config.agents ?? []).map(({ name }) => name);
  output.result(`Worker of ${agents.map(escapeText).join(', ')}. Ctrl-C stops it.`, { agents });
  // This resolves once a signal has stopped the worker and its running calls have ended.
  await worker.run();
}
