/** A worker in its own process, so that it can be killed with SIGKILL. Its argument is a `WorkerSettings`. */
import { createWorker } from '../../src/worker.ts';
import { ceiling } from './approval-settings.ts';
import { chaosAgent } from './chaos-agent.ts';

export interface WorkerSettings {
  address: string;
  folder: string;
  bundlePath: string;
  maxCachedWorkflows?: number;
}

/** The smallest limits that a worker accepts, so that runs continue as new with requests open. */
const continueAsNewAfter = { historyEvents: 40, updates: 10 };

const { address, folder, bundlePath, ...cache } = JSON.parse(process.argv[2]!) as WorkerSettings;
const worker = await createWorker({
  address,
  agents: [chaosAgent(folder)],
  policy: ceiling,
  workflowBundle: { codePath: bundlePath },
  ...cache,
  continueAsNewAfter,
  shutdownGraceTime: 300,
  logLevel: 'ERROR',
});
process.stdout.write('ready\n');
await worker.run();
