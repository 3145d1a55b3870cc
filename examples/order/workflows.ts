/** A plain order workflow, no agent in it, whose refunds may have to be approved. */
import { proxyActivities } from '@temporalio/workflow';
import { ApprovalGate, gateRefusal } from '../../src/workflow.ts';
import type { JsonObject } from '../../src/workflow.ts';
import type { OrderActivities } from './activities.ts';
import { gated } from './gated.ts';

export interface Return {
  orderId: string;
  amount: number;
  customer: string;
  /** Who wants the refund. */
  clerk: string;
  /** Tightens the worker's policy for this one return. */
  policy?: JsonObject;
}

const activities = proxyActivities<OrderActivities>({ startToCloseTimeout: '1 minute' });

export async function returnOrder({ orderId, amount, customer, clerk, policy }: Return): Promise<string> {
  const gate = new ApprovalGate();
  const { refund, mail } = gate.wrap(activities, gated);
  await gate.load({ agent: 'returns', caller: { userId: clerk }, ...(policy && { policy }) });
  try {
    const { refundId } = await refund(orderId, amount);
    await mail(customer, `We refunded ${amount}.`);
    return `Refunded: ${refundId}`;
  } catch (error) {
    if (gateRefusal(error) === undefined) throw error;
    await mail(customer, 'We could not refund your order.');
    return `Not refunded. ${(error as Error).message}`;
  }
}
