import { proxyActivities } from '@temporalio/workflow';
import type { RunInput, RunResult } from '../../../src/contract.ts';
import { agentRun as unchanged } from '../../../src/workflows/agent/agent-run.ts';
import type { CarriedGate } from '../../../src/workflow.ts';
import type { Carried } from '../../../src/workflows/agent/run-state.ts';
import { orders as unchangedOrders, type OrdersState } from './recorded-orders.ts';

const { announce } = proxyActivities<{ announce: () => Promise<void> }>({ startToCloseTimeout: '1s' });

/** A careless change: one additional activity at the start. Older histories must not replay with it. */
export async function agentRun(input: RunInput, carried?: Carried): Promise<RunResult> {
  void announce();
  return await unchanged(input, carried);
}

/** The same change to a user's workflow. */
export async function orders(state: OrdersState, carried?: CarriedGate): Promise<string[]> {
  void announce();
  return await unchangedOrders(state, carried);
}
