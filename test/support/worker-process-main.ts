import { createWorker } from '../../src/worker.ts';
import { lostAfterSending, makeChannel } from './channel-spec.ts';
import { team } from './team.ts';
import { testAgent } from './test-agent.ts';
import type { WorkerProcessOptions } from './worker-process.ts';

const options = JSON.parse(process.argv[2]!) as WorkerProcessOptions & { bundle: string };
const {
  address,
  taskQueue,
  folder,
  bundle,
  maxConcurrentActivityTaskExecutions,
  channel,
  lostAfterSending: lostFile,
} = options;
const made = channel && (await makeChannel(channel));
const subject = made && lostFile !== undefined ? lostAfterSending(made, lostFile) : made;
const worker = await createWorker({
  address,
  taskQueue,
  agents: options.team === true ? team(folder) : [testAgent(folder)],
  workflowBundle: { codePath: bundle },
  ...(subject !== undefined && { channels: { subject } }),
  ...(maxConcurrentActivityTaskExecutions === undefined ? {} : { maxConcurrentActivityTaskExecutions }),
});
process.stdout.write('ready\n');
await worker.run();
