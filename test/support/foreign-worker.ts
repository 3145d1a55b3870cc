import { randomUUID } from 'node:crypto';
import { NativeConnection, Worker } from '@temporalio/worker';
import { sharedBundle } from '../workflows/bundles/shared-bundle.ts';
import { sharedAddress } from './shared-server.ts';

/** A plain Temporal worker with workflows that have no gate (`foreign-workflows.ts`). */
export interface ForeignWorker {
  taskQueue: string;
  close(): Promise<void>;
}

export async function startForeignWorker(namespace = 'default'): Promise<ForeignWorker> {
  const taskQueue = `foreign-${randomUUID()}`;
  const [connection, workflowBundle] = await Promise.all([
    NativeConnection.connect({ address: sharedAddress() }),
    sharedBundle('foreign-workflows.ts', { plain: true }),
  ]);
  const worker = await Worker.create({ connection, namespace, taskQueue, workflowBundle });
  const done = worker.run();
  return {
    taskQueue,
    close: async () => {
      worker.shutdown();
      await done;
      await connection.close();
    },
  };
}
