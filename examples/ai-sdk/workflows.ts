/**
 * An AI SDK agent in a workflow of @temporalio/ai-sdk. Its tools are gated activities.
 *
 */
import { temporalProvider } from '@temporalio/ai-sdk/workflow';
import { proxyActivities } from '@temporalio/workflow';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';
import { ApprovalGate, forModel } from 'countersign/workflow';
import type { JsonObject } from 'countersign/workflow';
import type { ShopActivities } from './activities.ts';
import { gated } from './gated.ts';

export interface Question {
  prompt: string;
  customer: string;
  /** Tightens the worker's policy for this run only. */
  policy?: JsonObject;
}

const activities = proxyActivities<ShopActivities>({ startToCloseTimeout: '1 minute' });

export async function supportAgent({ prompt, customer, policy }: Question): Promise<string> {
  const gate = new ApprovalGate();
  const { findOrder, refund } = gate.guard(activities, gated);
  await gate.load({ agent: 'support', caller: { userId: customer }, ...(policy && { policy }) });
  const { text } = await generateText({
    model: temporalProvider.languageModel('gpt-5-mini'),
    instructions: 'You help customers with their orders.',
    prompt,
    stopWhen: stepCountIs(10),
    tools: {
      findOrder: tool({
        description: 'Finds an order.',
        inputSchema: jsonSchema<{ orderId: string }>({
          type: 'object',
          properties: { orderId: { type: 'string' } },
          required: ['orderId'],
        }),
        execute: ({ orderId }) => forModel(() => findOrder(orderId)),
      }),
      refund: tool({
        description: 'Refunds an order.',
        inputSchema: jsonSchema<{ orderId: string; amount: number }>({
          type: 'object',
          properties: { orderId: { type: 'string' }, amount: { type: 'number' } },
          required: ['orderId', 'amount'],
        }),
        execute: ({ orderId, amount }) => forModel(() => refund(orderId, amount)),
      }),
    },
  });
  return text;
}
