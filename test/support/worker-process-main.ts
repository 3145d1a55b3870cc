import { createWorker } from '../../src/worker.ts';
import { team } from './team.ts';
import { testAgent } from './test-agent.ts';

const options = JSON.parse(process.argv[2]!) as Record<string, string> & {
  maxConcurrentActivities?: number;
  team?: true;
};
const { address, taskQueue, folder, bundle, maxConcurrentActivities } = options;
const worker = await createWorker({
  address,
  taskQueue,
  agents: options.team === true ? team(folder!) : [testAgent(folder!)],
  workflowBundle: { codePath: bundle! },
  ...(maxConcurrentActivities === undefined ? {} : { maxConcurrentActivities }),
});
process.stdout.write('ready\n');
await worker.run();
