import { setTimeout as sleep } from 'node:timers/promises';
import type { CountersignClient } from '../../src/client/countersign-client.ts';
import type { ApprovalSummary } from '../../src/contract.ts';

const pauseMs = 150;

/** Reads the inbox repeatedly, as reviewers do. A failed read is skipped. */
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
