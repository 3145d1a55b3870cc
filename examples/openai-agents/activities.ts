import { appendFileSync } from 'node:fs';

/** Activities as `activityAsTool` wants them: one object each. `log` gets one line for each time one really ran. */
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
