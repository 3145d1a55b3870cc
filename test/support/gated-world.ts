import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { ApprovalRequest } from '../../src/contract.ts';
import type { WorkerOptions } from '../../src/worker.ts';
import { sharedBundle } from '../workflows/bundles/shared-bundle.ts';
import { gatedTestActivities } from '../workflows/guarded/gated-activities.ts';
import { gated } from '../workflows/guarded/gated-declarations.ts';
import { openWorld, type World } from './world.ts';

/** A world with the workflows of `gated-workflows.ts`. */
export interface GatedWorld extends Omit<World, 'start' | 'run'> {
  start(workflow: string, ...args: unknown[]): Promise<WorkflowHandle>;
  /** Starts a workflow and waits for its result. */
  run(workflow: string, ...args: unknown[]): Promise<unknown>;
  /** Waits until at least `count` requests are open and returns them. */
  open(handle: WorkflowHandle, count?: number): Promise<ApprovalRequest[]>;
  /** One line for each activity execution since the last call. */
  ran(): string[];
}

export async function openGatedWorld(options: Partial<WorkerOptions> = {}): Promise<GatedWorld> {
  const workflowBundle = await sharedBundle('gated-workflows.ts');
  const world = await openWorld({
    agentsIn: () => [],
    workerIn: (folder) => ({ activities: gatedTestActivities(folder) }),
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
    ...options,
  });
  const { client, folder, taskQueue } = world;
  const start = (type: string, ...args: unknown[]): Promise<WorkflowHandle> =>
    client.session.client.workflow.start(type, { workflowId: `${type}-${randomUUID()}`, taskQueue, args });
  return {
    ...world,
    start,
    run: async (type, ...args) => (await start(type, ...args)).result(),
    open: (handle, count = 1) =>
      world
        .run(handle.workflowId)
        .open(count)
        .catch(async (error: Error) => {
          const { raw } = await handle.describe();
          const { pendingActivities, pendingWorkflowTask } = raw;
          throw new Error(`${error.message}; pending: ${JSON.stringify({ pendingActivities, pendingWorkflowTask })}`);
        }),
    ran: () => {
      const log = join(folder, 'ran.log');
      const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
      rmSync(log, { force: true });
      return lines;
    },
  };
}
