import { createWorker } from '../../src/worker.ts';
import { team } from './team.ts';
import { testAgent } from './test-agent.ts';

const options = JSON.parse(process.argv[2]!) as Record<string, string> & {
  maxConcurrentActivityTaskExecutions?: number;
  team?: true;
};
const { address, taskQueue, folder, bundle, maxConcurrentActivityTaskExecutions } = options;
const worker = await createWorker({
  address,
  taskQueue,
  agents: options.team === true ? team(folder!) : [testAgent(folder!)],
  workflowBundle: { codePath: bundle! },
  ...(maxConcurrentActivityTaskExecutions === undefined ? {} : { maxConcurrentActivityTaskExecutions }),
});
process.stdout.write('ready\n');
await worker.run();
