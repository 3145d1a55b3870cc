/**
 * A user's own workflow whose histories are stored. Do not change it: its histories would no longer replay, whatever
 * the gate does.
 */
import { makeContinueAsNewFunc, proxyActivities } from '@temporalio/workflow';
import { ApprovalGate, type CarriedGate } from '../../../src/workflow.ts';
import { gatedOrders, type orderActivities } from './recorded-orders-gated.ts';

export interface OrdersState {
  /** Payments that are not finished. */
  open: { to: string; amount: number }[];
  told: string[];
}

const activities = proxyActivities<typeof orderActivities>({ startToCloseTimeout: '1 minute' });

/** Looks once, then makes all payments concurrently, and continues as new when its history has grown. */
export async function orders({ open, told }: OrdersState, carried?: CarriedGate): Promise<string[]> {
  const gate = new ApprovalGate();
  const { look, pay } = gate.guard(activities, gatedOrders);
  await gate.load({ agent: 'orders', caller: { userId: 'olga' } }, carried);
  if (carried === undefined) told.push(await look('the orders'));
  for (const each of open.slice()) {
    void pay(each.to, each.amount)
      .catch((error: unknown) => (error as Error).message)
      .then((text) => {
        told.push(text);
        open.splice(open.indexOf(each), 1);
      });
  }
  await gate.until(() => gate.closing !== undefined || open.length === 0 || (gate.shouldContinueAsNew && !gate.busy));
  if (gate.closing !== undefined || open.length === 0) return told;
  const { carried: forNext, memo } = gate.carry();
  return makeContinueAsNewFunc<typeof orders>({ memo })({ open, told }, forNext);
}
