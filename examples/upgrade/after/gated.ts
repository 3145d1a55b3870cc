import type { Gated } from 'countersign/workflow';
import type { BankActivities } from '../activities.ts';

/** Declares the gated activities. The workflow and the worker both import this. */
export const gated = {
  charge: {
    risk: 'destructive',
    description: 'Takes money from a customer.',
    arguments: ['orderId', 'amount'],
    show: ['orderId', 'amount'],
  },
} satisfies Gated<BankActivities>;
