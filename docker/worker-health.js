/**
 * The health check of the worker's container: exit 0 if this host's worker has asked Temporal for work lately, else 1
 * with one sentence. Reads Temporal's own environment, and COUNTERSIGN_TASK_QUEUE where it is not `countersign`.
 */
import { hostname } from 'node:os';
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

/** A worker asks again at the latest after a minute: that is how long the server lets a question wait. */
const latelyMs = 90_000;

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
const taskQueue = process.env.COUNTERSIGN_TASK_QUEUE ?? 'countersign';

/** @returns {Promise<boolean>} whether a poller of this host was seen lately */
async function isPolling() {
  const connection = await Connection.connect({ ...connectionOptions, connectTimeout: '5s' });
  try {
    const { pollers } = await connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
    });
    return (pollers ?? []).some(({ identity, lastAccessTime }) => {
      const seenAtMs = Number(lastAccessTime?.seconds ?? 0) * 1_000;
      return identity?.endsWith(`@${hostname()}`) && Date.now() - seenAtMs < latelyMs;
    });
  } finally {
    await connection.close();
  }
}

const complaint = await isPolling().then(
  (polling) => (polling ? undefined : `No worker of ${hostname()} polls task queue '${taskQueue}'.`),
  (error) => `Temporal does not answer: ${error instanceof Error ? error.message : String(error)}`,
);
if (complaint !== undefined) {
  process.stderr.write(`${complaint}\n`);
  process.exitCode = 1;
}
