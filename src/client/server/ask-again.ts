import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks once more, beside the first time, if there is no answer of any kind after half of `timeoutMs`. The SDK's core may
 * lose a query that waits for a run which it drops from its cache (docs/decisions/0058). The first answer counts. If
 * both questions fail, the failure that came first is thrown: a refusal says more than the silence that ends later.
 */
export async function askAgain<Answer>(timeoutMs: number, ask: () => Promise<Answer>): Promise<Answer> {
  const first = ask();
  const hasEnded = first.then(
    () => true,
    () => true,
  );
  const isSilent = sleep(timeoutMs / 2, false, { ref: false });
  if (await Promise.race([hasEnded, isSilent])) return first;
  const failures: unknown[] = [];
  const noted = (asked: Promise<Answer>): Promise<Answer> =>
    asked.catch((error: unknown) => {
      failures.push(error);
      throw error;
    });
  return Promise.any([noted(first), noted(ask())]).catch(() => {
    throw failures[0];
  });
}
