/**
 * The worker with the gate. docs/deploy.md says how to roll it out.
 *
 *   GATED_SINCE=2030-01-31T12:00:00Z UNGATED_UNTIL=2030-03-31T12:00:00Z node examples/upgrade/after/worker.ts
 */
import { join } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import { CountersignPlugin } from 'countersign/worker';
import { bankActivities } from '../activities.ts';
import { deployment } from '../deployment.ts';
import { gated } from './gated.ts';

const {
  TEMPORAL_ADDRESS: address = '127.0.0.1:7233',
  QUEUE: taskQueue = 'orders',
  BANK = 'http://127.0.0.1:7000',
} = process.env;
const { GATED_SINCE: gatedSince, UNGATED_UNTIL: ungatedUntil } = process.env;

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue,
  workflowsPath: join(import.meta.dirname, 'workflows.ts'),
  activities: bankActivities(BANK),
  ...deployment,
  plugins: [
    new CountersignPlugin({
      gated: { charge: { ...gated.charge, gatedSince, ungatedUntil } },
      policy: { version: 1, rules: [{ pattern: 'charge', action: 'ask', reason: 'Money needs a person.' }] },
      workflowTypes: ['settleOrder'],
    }),
  ],
});
console.log('ready');
await worker.run();
