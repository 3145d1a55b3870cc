import { setTimeout as sleep } from 'node:timers/promises';
import type { CountersignClient } from '../../src/client/client.ts';
import type { ApprovalSummary } from '../../src/contract.ts';

const pauseMs = 150;

/** Looks at the inbox again and again, as the reviewers do; a look that fails is none. */
export async function watchInbox(
  client: CountersignClient,
  signal: AbortSignal,
  seen: (rows: ApprovalSummary[]) => void,
): Promise<void> {
  while (!signal.aborted) {
    const found = await client.approvals.list({ limit: 10_000 }).catch(() => undefined);
    if (found !== undefined) seen(found.approvals);
    await sleep(pauseMs);
  }
}
