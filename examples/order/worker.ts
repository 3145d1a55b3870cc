/**
 * An ordinary Temporal worker with the plugin added.
 *
 *   node examples/order/worker.ts
 *   temporal workflow start --task-queue orders --type returnOrder --workflow-id return-1 \
 *     --input '{"orderId":"o-17","amount":250,"customer":"carl@example.com","clerk":"ann"}'
 *   countersign approvals
 *
 */
import { join } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import { CountersignPlugin } from 'countersign/worker';
import { orderActivities } from './activities.ts';
import { gated } from './gated.ts';

const here = import.meta.dirname;
const { TEMPORAL_ADDRESS: address = '127.0.0.1:7233', ORDER_QUEUE: taskQueue = 'orders', ORDER_LOG: log } = process.env;

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue,
  workflowsPath: join(here, 'workflows.ts'),
  activities: orderActivities(log ?? join(here, 'order.log')),
  plugins: [
    new CountersignPlugin({ gated, policy: join(here, 'policy.yaml'), workflowTypes: ['returnOrder', 'returnsDesk'] }),
  ],
});
console.log('ready');
await worker.run();
