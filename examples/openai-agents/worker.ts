/**
 * A worker with two plugins: that of @temporalio/openai-agents and ours.
 *
 *   OPENAI_API_KEY=… node examples/openai-agents/worker.ts
 *   temporal workflow start --task-queue shop --type supportAgent --workflow-id support-1 \
 *     --input '{"prompt":"Please refund order o-17","customer":"carl"}'
 *   countersign approvals
 *
 */
import { join } from 'node:path';
import { OpenAIProvider } from '@openai/agents-openai';
import { OpenAIAgentsPlugin } from '@temporalio/openai-agents';
import { NativeConnection, Worker } from '@temporalio/worker';
import { CountersignPlugin } from 'countersign/worker';
import { shopActivities } from './activities.ts';
import { gated } from './gated.ts';

const here = import.meta.dirname;
const { TEMPORAL_ADDRESS: address = '127.0.0.1:7233', SHOP_QUEUE: taskQueue = 'shop', SHOP_LOG: log } = process.env;
const { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey } = process.env;

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue,
  workflowsPath: join(here, 'workflows.ts'),
  activities: shopActivities(log ?? join(here, 'shop.log')),
  plugins: [
    new CountersignPlugin({ gated, policy: join(here, 'policy.yaml'), workflowTypes: ['supportAgent'] }),
    new OpenAIAgentsPlugin({
      // Chat completions, which every compatible server speaks.
      modelProvider: new OpenAIProvider({
        useResponses: false,
        ...(baseURL && { baseURL }),
        ...(apiKey && { apiKey }),
      }),
    }),
  ],
});
console.log('ready');
await worker.run();
