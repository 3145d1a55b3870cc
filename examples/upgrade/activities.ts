/** A plain Temporal activity, the same before and after the gate came. `bank` is the bank's URL. */
export function bankActivities(bank: string) {
  return {
    charge: async (orderId: string, amount: number): Promise<string> => {
      const answer = await fetch(bank, { method: 'POST', body: JSON.stringify({ orderId, amount }) });
      if (!answer.ok) throw new Error(`the bank answers with status ${answer.status}`);
      return answer.text();
    },
  };
}

export type BankActivities = ReturnType<typeof bankActivities>;
