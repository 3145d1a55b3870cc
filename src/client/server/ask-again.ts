import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks once more, beside the first time, if there is no answer of any kind after half of `timeoutMs`. The SDK's core may
 * lose a query that waits for a run which it drops from its cache (docs/decisions/0058).
 */
export async function askAgain<Answer>(timeoutMs: number, ask: () => Promise<Answer>): Promise<Answer> {
  const first = ask();
  const hasEnded = first.then(
    () => true,
    () => true,
  );
  const isSilent = sleep(timeoutMs / 2, false, { ref: false });
  return (await Promise.race([hasEnded, isSilent])) ? first : Promise.race([first, ask()]);
}
