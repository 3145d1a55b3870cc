/**
 * Makes a run stricter while it runs, or gives its requests to other channels. Its open requests are ruled on again at once.
 *
 *   countersign worker examples/channels/development.ts
 *   countersign run shop --input 'My lamp came broken' --detach
 *   node examples/channels/switching.ts WORKFLOW_ID         asks about everything of medium severity or more
 *   node examples/channels/switching.ts WORKFLOW_ID close   asks nobody any more
 *   node examples/channels/switching.ts WORKFLOW_ID desk    asks on the channel 'desk' from now on
 *
 */
import { type CountersignClient, createClient } from 'countersign/client';

/** Before a delicate phase: ask about everything of medium severity or more. */
export async function tighten(client: CountersignClient, workflowId: string) {
  return client.setPolicy(workflowId, { mode: 'confirm_medium_and_up', by: 'rita', reason: 'A delicate phase' });
}

/** The night: nobody is asked any more. What is open is denied, and so is what would ask. */
export async function closeShop(client: CountersignClient, workflowId: string) {
  return client.setPolicy(workflowId, { mode: 'headless', by: 'rita', reason: 'The shop is closed' });
}

/** Another channel of the worker gets what is open, and what will ask. */
export async function handOver(client: CountersignClient, workflowId: string, channel: string) {
  return client.setPolicy(workflowId, { channels: [channel], by: 'rita', reason: `${channel} takes over` });
}

if (process.argv[1] === import.meta.filename) {
  const client = await createClient();
  const [, , workflowId = '', what] = process.argv;
  const { message, settled = [] } =
    what === undefined
      ? await tighten(client, workflowId)
      : what === 'close'
        ? await closeShop(client, workflowId)
        : await handOver(client, workflowId, what);
  console.log(message, settled);
  await client.close();
}
