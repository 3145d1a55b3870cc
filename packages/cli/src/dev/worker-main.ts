/** The process of one worker of `countersign dev`. It reports which files its module needs, and why it failed. */
import { registerHooks } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleKind, declaredBy } from 'countersign/dev';
import { createWorker, type WorkerOptions } from 'countersign/worker';
import { closeModule, configFile, loadWorkerModule, type WorkerModule } from '../base/load-config.ts';
import { processOutput } from '../base/output.ts';
import { WorkerLog } from '../serve/worker-log.ts';
import { fileState } from './watched-files.ts';
import { loadFault, type WorkerArguments, type WorkerMessage, runMessage } from './worker-message.ts';

const { module, address, namespace, taskQueue, bundle, forPeople } = JSON.parse(process.argv[2]!) as WorkerArguments;

function tell(message: WorkerMessage): Promise<void> {
  return new Promise((sent) => process.send!(message, () => sent()));
}

function needs(path: string): void {
  void tell({ file: path, state: fileState(path) });
}

/** Reports the file of a module, but not of an installed package, because users restart after an installation. */
function needsModule(url: string): void {
  if (url.startsWith('file:') && !url.includes('/node_modules/')) needs(fileURLToPath(url));
}

registerHooks({
  resolve: (specifier, context, next) => {
    try {
      return next(specifier, context);
    } catch (error) {
      // An imported file that does not exist is watched, because it may be created later.
      if (/^\.{0,2}\//.test(specifier)) needsModule(new URL(specifier, context.parentURL).href);
      throw error;
    }
  },
  load: (url, context, next) => {
    needsModule(url);
    return next(url, context);
  },
});

const asked = new Promise<void>((resolve) => {
  process.once('message', (message) => message === runMessage && resolve());
});

const output = { ...processOutput({}), forPeople };
let loaded: WorkerModule | undefined;
try {
  loaded = await loadWorkerModule(module);
  const { options: config } = loaded;
  for (const path of filesNamedIn(config)) needs(path);
  const worker = await createWorker({
    logger: new WorkerLog(output, { address, namespace }, config.logLevel),
    ...config,
    address,
    namespace,
    ...(taskQueue === undefined ? {} : { taskQueue }),
    ...(bundle !== undefined && bundleKind(config) === 'plain' ? { workflowBundle: { codePath: bundle } } : {}),
  });
  await tell({ ready: declaredBy(config) });
  await asked;
  await worker.run();
} catch (error) {
  await tell({ failed: loadFault(error) });
  process.exitCode = 1;
}
if (loaded !== undefined) await closeModule(loaded, output);
// Timers and sockets of the module would keep the process alive.
process.exit();

/** Returns the files that the options name. The module hooks do not see them, because no `import` loads them. */
function filesNamedIn({ policy, workflowsPath }: WorkerOptions): string[] {
  const folder = dirname(configFile(module)!);
  const isFile = typeof policy === 'string' && !policy.includes('\n');
  return [...(isFile ? [resolve(folder, policy)] : []), ...(workflowsPath === undefined ? [] : [workflowsPath])];
}
