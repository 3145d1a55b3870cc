import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Worker, bundleWorkflowCode } from '@temporalio/worker';
import { sharedAddress } from './shared-server.ts';

/** A plain Temporal worker with workflows that have no gate (`foreign-workflows.ts`). */
export interface ForeignWorker {
  taskQueue: string;
  close(): Promise<void>;
}

export async function startForeignWorker(): Promise<ForeignWorker> {
  const taskQueue = `foreign-${randomUUID()}`;
  const workflowsPath = fileURLToPath(new URL('./foreign-workflows.ts', import.meta.url));
  const connection = await NativeConnection.connect({ address: sharedAddress() });
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  const worker = await Worker.create({ connection, taskQueue, workflowBundle });
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
