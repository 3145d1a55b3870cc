import type { Gated } from 'countersign/workflow';
import type { OrderActivities } from './activities.ts';

/** What is gated, and what rules and reviewers see of a call. Workflow and worker both import this. */
export const gated = {
  refund: {
    risk: 'destructive',
    description: 'Pays a customer back.',
    arguments: ['orderId', 'amount'],
    show: ['orderId', 'amount'],
    about: (orderId, amount) => `A clerk wants to refund ${amount} for order ${orderId}.`,
  },
} satisfies Gated<OrderActivities>;
