import { type CountersignWorker, createWorker } from '../../src/worker.ts';
import { hangsAfterSending, makeChannel } from '../workflows/channels/channel-spec.ts';
import type { Agent } from '../../src/agents/definitions.ts';
import { reconcilingAgents } from '../workflows/agent/reconciling-agent.ts';
import { team } from './team.ts';
import { testAgent } from './test-agent.ts';
import type { WorkerProcessOptions } from './worker-process.ts';

const [bundle, ...given] = process.argv.slice(2);

function agentsOf({ folder, team: isTeam, reconciling }: WorkerProcessOptions): Agent[] {
  if (reconciling === true) return reconcilingAgents(folder);
  return isTeam === true ? team(folder) : [testAgent(folder)];
}

async function makeWorker(options: WorkerProcessOptions): Promise<CountersignWorker> {
  const {
    address,
    taskQueue,
    namespace,
    maxConcurrentActivityTaskExecutions,
    maxCachedWorkflows,
    channel: spec,
  } = options;
  const channel = spec && (await makeChannel(spec));
  const { hangsAfterSending: file } = options;
  const subject = channel && file !== undefined ? hangsAfterSending(channel, file) : channel;
  return createWorker({
    address,
    taskQueue,
    ...(namespace !== undefined && { namespace }),
    agents: agentsOf(options),
    workflowBundle: { codePath: bundle! },
    ...(subject !== undefined && { channels: { subject } }),
    ...(options.onlyWorkflows === true && { enableNonLocalActivities: false, maxCachedWorkflows: 0 }),
    ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
    ...(maxConcurrentActivityTaskExecutions === undefined ? {} : { maxConcurrentActivityTaskExecutions }),
  });
}

const workers = await Promise.all(given.map((each) => makeWorker(JSON.parse(each) as WorkerProcessOptions)));
process.stdout.write('ready\n');
await Promise.all(workers.map((each) => each.run()));
