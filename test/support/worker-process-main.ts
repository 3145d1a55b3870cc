import { createWorker } from '../../src/worker.ts';
import { testAgent } from './test-agent.ts';

const { address, taskQueue, folder, bundle, maxConcurrentActivities } = JSON.parse(process.argv[2]!) as Record<
  string,
  string
> & {
  maxConcurrentActivities?: number;
};
const worker = await createWorker({
  address,
  taskQueue,
  agents: [testAgent(folder!)],
  workflowBundle: { codePath: bundle! },
  ...(maxConcurrentActivities === undefined ? {} : { maxConcurrentActivities }),
});
process.stdout.write('ready\n');
await worker.run();
