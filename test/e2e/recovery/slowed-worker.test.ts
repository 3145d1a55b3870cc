/**
 * A worker that gets too little of the processor takes a task long before it begins it. When it has to load the run for
 * that, the query after the task is answered, and the run stays in the worker's cache (docs/decisions/0058). If such a
 * query were refused, the worker would drop the run, load it for the next task, be late again, and refuse the next query:
 * a circle, until the client gives up.
 */
import { kill } from 'node:process';
import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AskPast } from '../../../src/client/server/client-plugin.ts';
import { queryNames, type RunStatus } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { killAll, type ReadyProcess } from '../../support/ready-process.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { spawnWorker } from '../../support/worker-process.ts';
import { openWorld, type RunInTest, type World } from '../../support/world.ts';

let world: World;
let worker: ReadyProcess;
beforeAll(async () => {
  world = await openWorld({ worker: false });
  const { taskQueue, folder } = world;
  worker = await spawnWorker({ address: sharedAddress(), taskQueue, folder, maxCachedWorkflows: 2 });
});
afterAll(async () => {
  await killAll();
  await world.close();
});

async function waitingRun(): Promise<RunInTest> {
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 5 } }] }, { text: 'end' }]);
  await run.open();
  return run;
}

/** Gives the run's next task to the worker while it is paused, until it begins the task late by any limit of ours. */
async function beginLate({ handle }: RunInTest): Promise<void> {
  kill(worker.pid, 'SIGSTOP');
  try {
    await handle.signal('noise');
    await eventually('the paused worker is late', async () => {
      const { events = [] } = await handle.fetchHistory();
      const { workflowTaskStartedEventAttributes, eventTime } = events!.at(-1)!;
      return workflowTaskStartedEventAttributes != null && Date.now() > Number(eventTime!.seconds) * 1_000 + 2_000;
    });
  } finally {
    kill(worker.pid, 'SIGCONT');
  }
}

test('tasks and queries in turn: each query is answered, although each task begins late', async () => {
  const run = await waitingRun();
  // They take its place in the cache.
  await waitingRun();
  await waitingRun();
  const afterLateTask: WorkflowClientInterceptor = {
    async query(input, next) {
      await beginLate(run);
      return next(input);
    },
  };
  const { connection } = world.client.session;
  const client = new Client({ connection, interceptors: { workflow: [new AskPast(5_000), afterLateTask] } });
  const handle = client.workflow.getHandle(run.workflowId);
  for (let query = 1; query <= 4; query++) {
    expect(await handle.query<RunStatus>(queryNames.run)).toMatchObject({ status: 'waiting' });
  }
});
