/**
 * The agent of the other examples here: it looks an order up, sends a replacement and deletes an account, and a person has
 * to approve the last two. A replacement is of medium severity, and deleting of high severity. By itself it has no channel:
 * people answer in the inbox or on the command line.
 *
 *   countersign worker examples/channels/shop.ts
 *   countersign run shop --input 'My lamp came broken'
 *
 */
import { z } from 'zod';
import { defineAgent, defineTool, modelFromEnvironment, scriptedModel } from 'countersign';

/** What the agent does if no model is set. */
const script = scriptedModel([
  {
    calls: [
      { tool: 'look_up', args: { orderId: 'o-17' } },
      { tool: 'replace_item', args: { orderId: 'o-17', item: 'lamp' } },
      { tool: 'delete_account', args: { customer: 'carl' } },
    ],
  },
  { text: 'Done, as far as I was allowed to.' },
]);

export const shop = defineAgent({
  name: 'shop',
  instructions: 'You help customers of a shop. Accept it if a call is denied, and say why.',
  model: modelFromEnvironment(process.env) ?? script,
  tools: [
    defineTool({
      name: 'look_up',
      description: 'Looks an order up.',
      input: z.object({ orderId: z.string() }),
      risk: 'read_only',
      execute: ({ orderId }) => `${orderId}: a lamp for carl, arrived broken`,
    }),
    defineTool({
      name: 'replace_item',
      description: 'Sends an item of an order again.',
      input: z.object({ orderId: z.string(), item: z.string() }),
      risk: 'write',
      execute: ({ orderId, item }) => `${item} of ${orderId} sent again`,
    }),
    defineTool({
      name: 'delete_account',
      description: 'Deletes the account of a customer.',
      input: z.object({ customer: z.string() }),
      risk: 'destructive',
      execute: ({ customer }) => `account of ${customer} deleted`,
    }),
  ],
});

/** The operator's policy: reading is allowed, everything else asks. */
export const policy = {
  rules: [
    { pattern: 'replace_item', action: 'ask', reason: 'Goods leave the house' },
    { pattern: 'delete_account', action: 'ask', reason: 'Deleted accounts do not come back' },
  ],
};

export default { agents: [shop], policy };
