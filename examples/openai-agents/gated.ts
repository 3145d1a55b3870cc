import type { Gated } from 'countersign/workflow';
import type { ShopActivities } from './activities.ts';

/** The gated activities. Each takes one object, which rules and reviewers see. */
export const gated = {
  findOrder: { risk: 'read_only' },
  refund: { risk: 'destructive', description: 'Pays a customer back.' },
} satisfies Gated<ShopActivities>;
