import { setTimeout as sleep } from 'node:timers/promises';
import { queryNames } from '../../src/contract.ts';
import type { Sender } from './senders.ts';

const pauseMs = 20;
const mostAtOnce = 40;
/** A query waits in the server for a worker, also while events of its run come in. */
const waitsMs = 5_000;

/** Queries the runs in turn, all the time, as inboxes and Temporal's UI do. A query that fails is not repeated. */
export async function queryRuns(
  { workflow, connection }: Sender,
  signal: AbortSignal,
  workflowIds: () => Iterable<string>,
): Promise<void> {
  const asked = new Set<Promise<unknown>>();
  while (!signal.aborted) {
    for (const workflowId of workflowIds()) {
      if (signal.aborted) break;
      const query: Promise<unknown> = connection
        .withDeadline(Date.now() + waitsMs, () => workflow.getHandle(workflowId).query(queryNames.approvals))
        .catch(() => undefined)
        .then(() => asked.delete(query));
      asked.add(query);
      await sleep(pauseMs);
      if (asked.size >= mostAtOnce) await Promise.race(asked);
    }
    // Nothing may be under way yet.
    await sleep(pauseMs);
  }
  await Promise.all(asked);
}
