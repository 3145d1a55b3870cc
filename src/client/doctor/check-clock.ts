import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { formatDuration } from '../../core/base/duration.ts';
import { callServer } from '../server/call-server.ts';
import { type Finding, fine, wrong } from './check.ts';
import type { Session } from '../server/connect.ts';

/** The most by which the clocks may differ, in milliseconds. */
const toleratedMs = 5_000;
const pollMs = 5_000;
const looks = 20;
const lookEveryMs = 100;

/**
 * Compares this machine's clock with the server's. No answer of the server has its time, but it notes when a task queue
 * was polled last: this polls a queue that nobody else uses, for a moment, and writes nothing.
 */
export async function checkClock(session: Session): Promise<Finding> {
  const { connection, namespace } = session;
  const taskQueue = { name: `countersign-clock-${randomUUID()}` };
  const giveUp = new AbortController();
  const beforeMs = Date.now();
  const poll = connection
    .withAbortSignal(giveUp.signal, () =>
      connection.withDeadline(beforeMs + pollMs, () =>
        connection.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue, identity: 'countersign doctor' }),
      ),
    )
    .catch(() => undefined);
  try {
    for (let look = 0; look < looks; look += 1) {
      const { pollers } = await callServer(session, () =>
        connection.workflowService.describeTaskQueue({ namespace, taskQueue }),
      );
      const [poller] = pollers;
      if (poller?.lastAccessTime != null) {
        return compare(tsToMs(poller.lastAccessTime), beforeMs, Date.now());
      }
      await sleep(lookEveryMs);
    }
    return fine(
      "The server does not say when a queue was polled, so its clock could not be compared with this machine's.",
    );
  } finally {
    giveUp.abort();
    await poll;
  }
}

/** The server noted its time between two instants of this machine. */
function compare(serverMs: number, beforeMs: number, afterMs: number): Finding {
  const aheadMs = Math.max(0, beforeMs - serverMs) || Math.min(0, afterMs - serverMs);
  if (Math.abs(aheadMs) <= toleratedMs) return fine("This machine's clock agrees with the server's.");
  const by = formatDuration(Math.round(Math.abs(aheadMs) / 1_000) * 1_000);
  return wrong(
    `This machine's clock is ${by} ${aheadMs > 0 ? 'ahead of' : 'behind'} the server's: the time left of requests is shown wrong, and so is what --for adds. Set it, such as with \`sudo timedatectl set-ntp true\`.`,
    'sudo timedatectl set-ntp true',
  );
}
