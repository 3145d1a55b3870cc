import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { CountersignClient } from '../../src/client/countersign-client.ts';
import { createClient } from '../../src/client/client.ts';
import type { ApprovalRequest } from '../../src/contract.ts';
import type { CountersignWorker, WorkerOptions } from '../../src/worker.ts';
import { createWorker } from '../../src/worker.ts';
import { eventually } from './eventually.ts';
import { gatedTestActivities } from './gated-activities.ts';
import { testCache } from './world.ts';
import { gated } from './gated-declarations.ts';
import { sharedBundle } from './shared-bundle.ts';
import { sharedAddress } from './shared-server.ts';

/** A worker with the workflows of `gated-workflows.ts` on its own task queue. */
export interface GatedWorld {
  client: CountersignClient;
  folder: string;
  taskQueue: string;
  start(workflow: string, ...args: unknown[]): Promise<WorkflowHandle>;
  /** Starts a workflow and waits for its result. */
  run(workflow: string, ...args: unknown[]): Promise<unknown>;
  /** Waits until at least `count` requests are open and returns them. */
  open(handle: WorkflowHandle, count?: number): Promise<ApprovalRequest[]>;
  startWorker(options?: Partial<WorkerOptions>): Promise<void>;
  stopWorker(): Promise<void>;
  /** One line for each activity execution since the last call. */
  ran(): string[];
  close(): Promise<void>;
}

export async function openGatedWorld(options: Partial<WorkerOptions> = {}): Promise<GatedWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-gated-'));
  const taskQueue = `gated-${randomUUID()}`;
  const address = sharedAddress();
  const { namespace } = options;
  const client = await createClient({ address, taskQueue, ...(namespace !== undefined && { namespace }) });
  const workflowBundle = await sharedBundle('gated-workflows.ts');
  let running: { worker: CountersignWorker; done: Promise<void> } | undefined;
  const { workflow } = client.session.client;
  const start = (type: string, ...args: unknown[]): Promise<WorkflowHandle> =>
    workflow.start(type, { workflowId: `${type}-${randomUUID()}`, taskQueue, args });
  const startWorker = async (more: Partial<WorkerOptions> = {}): Promise<void> => {
    const worker = await createWorker({
      address,
      taskQueue,
      agents: [],
      activities: gatedTestActivities(folder),
      gated,
      workflowTypes: [
        'calls',
        'callsElsewhere',
        'inTurn',
        'trustedCalls',
        'misuses',
        'misspells',
        'gatesTooMuch',
        'givesUp',
        'notesLate',
        'rolls',
        'passesOn',
        'takesFromSignal',
        'leaves',
        'leavesWhenTold',
        'thinksAgain',
        'handsOn',
        'rollsLate',
        'worksFor',
      ],
      workflowBundle,
      shutdownGraceTime: 500,
      logLevel: 'ERROR',
      ...testCache(),
      ...options,
      ...more,
    });
    running = { worker, done: worker.run() };
  };
  const stopWorker = async (): Promise<void> => {
    running?.worker.shutdown();
    await running?.done;
    running = undefined;
  };
  await startWorker();
  return {
    client,
    folder,
    taskQueue,
    start,
    run: async (type, ...args) => (await start(type, ...args)).result(),
    open: (handle, count = 1) =>
      eventually(`${count} open requests of ${handle.workflowId}`, async () => {
        // As in `world.ts`: read the index first, because its content is final.
        const kept = (await handle.describe()).searchAttributes['ApprovalIds'] ?? [];
        if (kept.length < count) return false;
        const open = await handle.query<ApprovalRequest[]>('approvals');
        return open.length >= count && open.every(({ requestId }) => kept.some((each) => each === requestId)) && open;
      }).catch(async (error: Error) => {
        const { raw } = await handle.describe();
        const { pendingActivities, pendingWorkflowTask } = raw;
        throw new Error(`${error.message}; pending: ${JSON.stringify({ pendingActivities, pendingWorkflowTask })}`);
      }),
    startWorker,
    stopWorker,
    ran: () => {
      const log = join(folder, 'ran.log');
      const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
      rmSync(log, { force: true });
      return lines;
    },
    close: async () => {
      await stopWorker();
      await client.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
