/**
 * A worker in its own process, to be weighed and to be killed. Prints `ready`, then answers each line on standard input
 * with a line of JSON: the size of its heap after garbage collection, and its processor time.
 */
import { createInterface } from 'node:readline';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createCallModel } from '../src/activities/call-model.ts';
import { createRegistry } from '../src/agents/registry.ts';
import { createWorker } from '../src/worker.ts';
import { benchAgent } from './waiting-agent.ts';

export interface Weight {
  /** Heap size after garbage collection, in bytes. */
  heapBytes: number;
  /** Processor time, in milliseconds. */
  processorMs: number;
}

const { address, taskQueue, kind, ranFile, codePath } = JSON.parse(process.argv[2]!) as Record<string, string>;
const agent = benchAgent(ranFile);
const cached = 3_000;
const worker = kind === 'bare' ? await bareWorker() : await ourWorker();
const lines = createInterface({ input: process.stdin });
lines.on('line', () => {
  globalThis.gc?.();
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const weight: Weight = { heapBytes: process.memoryUsage().heapUsed, processorMs: (user + system) / 1_000 };
  process.stdout.write(`${JSON.stringify(weight)}\n`);
});
process.stdout.write('ready\n');
await worker.run();

function ourWorker(): Promise<{ run(): Promise<void> }> {
  return createWorker({
    address: address!,
    taskQueue: taskQueue!,
    agents: [agent],
    maxCachedWorkflows: cached,
    logLevel: 'ERROR',
    workflowBundle: { codePath: codePath! },
  });
}

async function bareWorker(): Promise<Worker> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  return Worker.create({
    connection: await NativeConnection.connect({ address: address! }),
    taskQueue: taskQueue!,
    workflowBundle: { codePath: codePath! },
    activities: {
      callModel: createCallModel(createRegistry({ agents: [agent] })),
      pay: ({ to, amount }: { to: string; amount: number }) => `paid ${amount} to ${to}`,
    },
    maxCachedWorkflows: cached,
    stickyQueueScheduleToStartTimeout: '2s',
  });
}
