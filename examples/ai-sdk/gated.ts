import type { Gated } from 'countersign/workflow';
import type { ShopActivities } from './activities.ts';

/** What is gated, and what rules and reviewers see of a call. Workflow and worker both import this. */
export const gated = {
  findOrder: { risk: 'read_only', arguments: ['orderId'] },
  refund: { risk: 'destructive', description: 'Pays a customer back.', arguments: ['orderId', 'amount'] },
} satisfies Gated<ShopActivities>;
