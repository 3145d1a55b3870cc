/** The worker as it was before the gate: `node examples/upgrade/before/worker.ts` */
import { join } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import { bankActivities } from '../activities.ts';
import { deployment } from '../deployment.ts';

const {
  TEMPORAL_ADDRESS: address = '127.0.0.1:7233',
  QUEUE: taskQueue = 'orders',
  BANK = 'http://127.0.0.1:7000',
} = process.env;

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue,
  workflowsPath: join(import.meta.dirname, 'workflows.ts'),
  activities: bankActivities(BANK),
  ...deployment,
});
console.log('ready');
await worker.run();
