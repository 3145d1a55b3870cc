/** The workflow as it was before the gate. */
import { condition, defineSignal, proxyActivities, setHandler, sleep } from '@temporalio/workflow';
import type { BankActivities } from '../activities.ts';

export interface Order {
  id: string;
  amount: number;
  /** Milliseconds until the order counts as shipped. Default: it waits for the signal `ship`. */
  shipsAfterMs?: number;
}

const { charge } = proxyActivities<BankActivities>({ startToCloseTimeout: '10 seconds' });
const ship = defineSignal('ship');

export async function settleOrder({ id, amount, shipsAfterMs }: Order): Promise<string> {
  let shipped = false;
  setHandler(ship, () => {
    shipped = true;
  });
  if (shipsAfterMs !== undefined) void sleep(shipsAfterMs).then(() => (shipped = true));
  await condition(() => shipped);
  return `Charged: ${await charge(id, amount)}`;
}
