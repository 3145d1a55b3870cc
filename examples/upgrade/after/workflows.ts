/** The workflow with the gate. Executions that began before it go on without it. */
import { condition, defineSignal, patched, proxyActivities, setHandler, sleep } from '@temporalio/workflow';
import { ApprovalGate, gateRefusal } from 'countersign/workflow';
import type { BankActivities } from '../activities.ts';
import type { Order } from '../before/workflows.ts';
import { gated } from './gated.ts';

const activities = proxyActivities<BankActivities>({ startToCloseTimeout: '10 seconds' });
const ship = defineSignal('ship');

export async function settleOrder({ id, amount, shipsAfterMs }: Order): Promise<string> {
  let shipped = false;
  setHandler(ship, () => {
    shipped = true;
  });
  if (shipsAfterMs !== undefined) void sleep(shipsAfterMs).then(() => (shipped = true));
  if (!patched('approval-gate')) {
    await condition(() => shipped);
    return `Charged: ${await activities.charge(id, amount)}`;
  }
  const gate = new ApprovalGate();
  const { charge } = gate.guard(activities, gated);
  await gate.load({ agent: 'orders' });
  await gate.until(() => shipped);
  try {
    return `Charged: ${await charge(id, amount)}`;
  } catch (error) {
    if (gateRefusal(error) === undefined) throw error;
    return `Not charged. ${(error as Error).message}`;
  }
}
