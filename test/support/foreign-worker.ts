import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Worker, bundleWorkflowCode } from '@temporalio/worker';
import { sharedAddress } from './shared-server.ts';
import { testBundle } from './world.ts';

/** A plain Temporal worker with workflows that have no gate (`foreign-workflows.ts`). */
export interface ForeignWorker {
  taskQueue: string;
  close(): Promise<void>;
}

export async function startForeignWorker(): Promise<ForeignWorker> {
  const taskQueue = `foreign-${randomUUID()}`;
  const [connection, workflowBundle] = await Promise.all([
    NativeConnection.connect({ address: sharedAddress() }),
    foreignBundle(),
  ]);
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

/** The first test that needs it makes it, for all of them. */
async function foreignBundle(): Promise<{ codePath: string }> {
  const codePath = join(dirname(testBundle()), 'plain-foreign-workflows.js');
  if (!existsSync(codePath)) {
    const workflowsPath = fileURLToPath(new URL('./foreign-workflows.ts', import.meta.url));
    const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
    // Renamed when it is whole, because another test may look for it at the same time.
    const written = `${codePath}.${randomUUID()}`;
    writeFileSync(written, code);
    renameSync(written, codePath);
  }
  return { codePath };
}
