/**
 * A help desk with three agents: `desk` calls `researcher` as a tool and hands over to `billing`.
 *
 *   countersign worker examples/desk/agent.ts
 *   countersign run desk --input 'Order 7 came broken'
 *
 * Without OPENAI_API_KEY they play `turns.yaml`.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { agentTool, defineAgent, defineTool, modelFromEnvironment, scriptedModel } from 'countersign';

const model = modelFromEnvironment(process.env) ?? scriptedModel(join(import.meta.dirname, 'turns.yaml'));

const messageWarehouse = defineTool({
  name: 'message_warehouse',
  description: 'Sends the warehouse a message and returns its answer.',
  input: z.object({ text: z.string() }),
  execute: ({ text }) => `The warehouse was asked "${text}" and says: sent intact on Monday.`,
});
const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  input: z.object({ orderId: z.string(), amount: z.number().positive() }),
  execute: ({ orderId, amount }) => `Order ${orderId}: ${amount} refunded.`,
});

const researcher = defineAgent({
  name: 'researcher',
  description: 'Finds out what happened to an order.',
  instructions: 'You find out what happened to an order. Answer in one sentence.',
  model,
  tools: [messageWarehouse],
});
const billing = defineAgent({
  name: 'billing',
  description: 'Refunds orders.',
  instructions: 'You settle what the desk has found out. Refund what came broken.',
  model,
  tools: [refund],
  policy: { rules: [{ pattern: 'refund', action: 'ask', reason: 'Money leaves the house' }] },
});
const desk = defineAgent({
  name: 'desk',
  instructions: 'You answer customers. Let the researcher look into orders; money is for billing.',
  model,
  tools: [agentTool(researcher)], // a call of it is a run of its own
  handoffs: [billing], // the same run goes on as another agent
});

// The ceiling applies to all three agents: nobody refunds more than 100.
const policy = {
  rules: [{ pattern: 'refund', when: 'args.amount > 100.0', action: 'deny', reason: 'Too much for us' }],
};

export default { agents: [desk], policy };
