import type { Gated } from '../../src/workflow.ts';

/** What the workflow of `recorded-orders.ts` calls. */
export const orderActivities = {
  look: async (what: string): Promise<string> => `saw ${what}`,
  pay: async (to: string, amount: number): Promise<string> => `paid ${amount} to ${to}`,
};

export const gatedOrders = {
  look: { risk: 'read_only' },
  pay: { arguments: ['to', 'amount'], subject: 'to' },
} satisfies Gated<typeof orderActivities>;
