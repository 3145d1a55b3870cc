/**
 * An @openai/agents agent in a workflow of @temporalio/openai-agents. Its activity tools are gated.
 *
 */
import type { FunctionTool } from '@openai/agents-core';
import { Agent } from '@openai/agents-core';
import { TemporalOpenAIRunner, activityAsTool } from '@temporalio/openai-agents/workflow';
import { proxyActivities } from '@temporalio/workflow';
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

const orderId = { type: 'string' };

export async function supportAgent({ prompt, customer, policy }: Question): Promise<string> {
  const gate = new ApprovalGate();
  // `activityAsTool` knows an activity only by its name; the gate still intercepts each call.
  gate.guard(proxyActivities<ShopActivities>({ startToCloseTimeout: '1 minute' }), gated);
  await gate.load({ agent: 'support', caller: { userId: customer }, ...(policy && { policy }) });
  const agent = new Agent({
    name: 'support',
    instructions: 'You help customers with their orders.',
    model: 'gpt-5-mini',
    tools: [
      activityAsTool<ShopActivities['findOrder']>({
        name: 'findOrder',
        description: 'Finds an order.',
        parameters: { type: 'object', properties: { orderId }, required: ['orderId'], additionalProperties: false },
      }),
      activityAsTool<ShopActivities['refund']>({
        name: 'refund',
        description: 'Refunds an order.',
        parameters: {
          type: 'object',
          properties: { orderId, amount: { type: 'number' } },
          required: ['orderId', 'amount'],
          additionalProperties: false,
        },
      }),
    ].map(answering),
  });
  const { finalOutput } = await new TemporalOpenAIRunner().run(agent, prompt);
  return finalOutput ?? '';
}

/** What the gate does not let run is an answer to the model; thrown, it would end the run. */
function answering(tool: FunctionTool): FunctionTool {
  return { ...tool, invoke: (...call) => forModel(() => tool.invoke(...call)) };
}
