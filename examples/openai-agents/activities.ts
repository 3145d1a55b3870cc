import { appendFileSync } from 'node:fs';

/**
 * Activities in the form that `activityAsTool` needs: each takes one object. Each execution writes one line to `log`.
 */
export function shopActivities(log: string) {
  const note = (line: string): void => appendFileSync(log, `${line}\n`);
  return {
    findOrder: async ({ orderId }: { orderId: string }): Promise<{ orderId: string; amount: number }> => {
      note(`findOrder ${orderId}`);
      return { orderId, amount: 250 };
    },
    refund: async ({ orderId, amount }: { orderId: string; amount: number }): Promise<string> => {
      note(`refund ${orderId} ${amount}`);
      return `Refunded ${amount} for ${orderId}`;
    },
  };
}

export type ShopActivities = ReturnType<typeof shopActivities>;
