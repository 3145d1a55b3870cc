import type { Gated } from '../../src/workflow.ts';
import type { ShopActivities } from './activities.ts';

/** What is gated. The one object that each activity takes is what rules and reviewers see. */
export const gated = {
  findOrder: { risk: 'read_only' },
  refund: { risk: 'destructive', description: 'Pays a customer back.' },
} satisfies Gated<ShopActivities>;
