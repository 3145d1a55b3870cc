import { appendFileSync } from 'node:fs';

/** Plain Temporal activities that know nothing about the gate. Each execution writes one line to `log`. */
export function orderActivities(log: string) {
  const note = (line: string): void => appendFileSync(log, `${line}\n`);
  return {
    refund: async (orderId: string, amount: number): Promise<{ refundId: string }> => {
      note(`refund ${orderId} ${amount}`);
      return { refundId: `refund-of-${orderId}` };
    },
    mail: async (to: string, text: string): Promise<void> => {
      note(`mail ${to}: ${text}`);
    },
  };
}

export type OrderActivities = ReturnType<typeof orderActivities>;
