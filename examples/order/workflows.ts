/**
 * A plain order workflow without an agent. Its refunds may need approval.
 *
 */
import { defineSignal, makeContinueAsNewFunc, proxyActivities, setHandler } from '@temporalio/workflow';
import { ApprovalGate, gateRefusal } from 'countersign/workflow';
import type { CarriedGate, JsonObject } from 'countersign/workflow';
import type { OrderActivities } from './activities.ts';
import { gated } from './gated.ts';

export interface Return {
  orderId: string;
  amount: number;
  customer: string;
  /** The person who requests the refund. */
  clerk: string;
  /** Tightens the worker's policy for this return only. */
  policy?: JsonObject;
}

const activities = proxyActivities<OrderActivities>({ startToCloseTimeout: '1 minute' });

export async function returnOrder({ orderId, amount, customer, clerk, policy }: Return): Promise<string> {
  const gate = new ApprovalGate();
  const { refund, mail } = gate.guard(activities, gated);
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

const takeReturn = defineSignal<[Return]>('takeReturn');

/**
 * Takes returns by signal until it is closed, handles them concurrently, and continues as new when its history has
 * grown.
 */
export async function returnsDesk(open: Return[], carried?: CarriedGate): Promise<void> {
  // Register your own handlers before you make the gate.
  setHandler(takeReturn, (each) => {
    open.push(each);
  });
  const gate = new ApprovalGate();
  const { refund } = gate.guard(activities, gated);
  await gate.load({ agent: 'returns' }, carried);
  const begun = new Set<Return>();
  const refundOne = async (each: Return): Promise<void> => {
    begun.add(each);
    await refund(each.orderId, each.amount).catch((error: unknown) => {
      if (gateRefusal(error) === undefined) throw error;
    });
    open.splice(open.indexOf(each), 1);
  };
  const next = (): Return | undefined => open.find((each) => !begun.has(each));
  // When the history has grown, begin nothing new, and wait for what runs; what waits for a reviewer is carried over.
  const canGoOn = (): boolean => (gate.shouldContinueAsNew ? !gate.busy : next() !== undefined);
  for (;;) {
    await gate.until(() => gate.closing !== undefined || canGoOn());
    if (gate.closing !== undefined) return;
    if (gate.shouldContinueAsNew) {
      const { carried: forNext, memo } = gate.carry();
      return makeContinueAsNewFunc<typeof returnsDesk>({ memo })(open, forNext);
    }
    for (let each = next(); each !== undefined; each = next()) void refundOne(each);
  }
}
