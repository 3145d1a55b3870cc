import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { NativeConnection, Worker } from '@temporalio/worker';
import { eventually } from '../../support/eventually.ts';
import type { HistoryEvent } from './history-tasks.ts';
import { sharedBundle } from '../bundles/shared-bundle.ts';
import { sharedAddress } from '../../support/shared-server.ts';

/** A worker with the workflows of `boundary-workflows.ts`. */
export interface BoundaryStage {
  workflowBundle: { codePath: string };
  /** Runs the workflow to completion. One of its tasks, in which an activity ends, writes no command. */
  play(workflow: string): Promise<HistoryEvent[]>;
  /** Starts the workflow and resolves once it waits for its activity `first`; `end` completes it. */
  start(workflow: string): Promise<{ workflowId: string; end(): Promise<void> }>;
  close(): Promise<void>;
}

export async function openBoundaryStage(address = sharedAddress()): Promise<BoundaryStage> {
  const taskQueue = `boundary-${randomUUID()}`;
  const workflowBundle = await sharedBundle('boundary-workflows.ts', { plain: true });
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection: await Connection.connect({ address }) });
  const release = new Map<string, () => void>();
  let isClosing = false;
  // An activity that starts while the stage closes would hold the worker for ever.
  const hold = async (name: string): Promise<void> => {
    if (!isClosing) await new Promise<void>((resolve) => release.set(name, resolve));
  };
  const worker = await Worker.create({ connection, taskQueue, workflowBundle, activities: { hold } });
  const done = worker.run();
  return {
    workflowBundle,
    play: async (workflow) => {
      release.clear();
      const handle = await client.workflow.start(workflow, { taskQueue, workflowId: `boundary-${randomUUID()}` });
      const events = async (): Promise<HistoryEvent[]> =>
        (JSON.parse(historyToJSON(await handle.fetchHistory())) as { events: HistoryEvent[] }).events;
      const update = (value: string): Promise<unknown> =>
        handle.executeUpdate<number, [string]>('value', { args: [value] }).catch((error: Error) => error.name);
      const completed = (tasks: number): Promise<unknown> =>
        eventually(`${tasks} completed tasks`, async () => {
          const ended = (await events()).filter(({ eventType }) => eventType.endsWith('WORKFLOW_TASK_COMPLETED'));
          return ended.length >= tasks;
        });
      await eventually('both activities', () => release.size === 2);
      release.get('first')!();
      await completed(2);
      await handle.signal('more');
      await completed(3);
      // Lets enough time pass for `readsClock` to notice it.
      const toldMs = Date.parse((await events()).at(-1)!.eventTime);
      await eventually('more than a second', () => Date.now() > toldMs + 1_500);
      await handle.signal('value');
      await completed(4);
      await update('bad');
      await update('good');
      await update('good');
      await eventually('the last activities', () => release.has('more') || workflow === 'ignoresBoundaries');
      for (const end of release.values()) end();
      await handle.result();
      return events();
    },
    start: async (workflow) => {
      release.clear();
      const handle = await client.workflow.start(workflow, { taskQueue, workflowId: `boundary-${randomUUID()}` });
      await eventually('its activity', () => release.has('first'));
      return {
        workflowId: handle.workflowId,
        end: async () => {
          await eventually('its end', async () => {
            for (const end of release.values()) end();
            return (await handle.describe()).status.name === 'COMPLETED';
          });
        },
      };
    },
    close: async () => {
      isClosing = true;
      for (const end of release.values()) end();
      worker.shutdown();
      await done;
      await connection.close();
      await client.connection.close();
    },
  };
}
