import type { Gated } from '../../../src/workflow.ts';

/** The activities of the workflow in `recorded-orders.ts`. */
export const orderActivities = {
  look: async (what: string): Promise<string> => `saw ${what}`,
  pay: async (to: string, amount: number): Promise<string> => `paid ${amount} to ${to}`,
};

export const gatedOrders = {
  look: { risk: 'read_only' },
  pay: { arguments: ['to', 'amount'], subject: 'to' },
} satisfies Gated<typeof orderActivities>;
