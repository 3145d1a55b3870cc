import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Connection } from '@temporalio/client';
import { eventually } from '../../support/eventually.ts';
import { sharedAddress } from '../../support/shared-server.ts';

const program = join(import.meta.dirname, '..', '..', '..', 'docker', 'worker-health.js');

let connection: Connection;

beforeAll(async () => {
  connection = await Connection.connect({ address: sharedAddress() });
});

afterAll(() => connection.close());

/** Runs the health check of the worker's container for `taskQueue`. */
function checkHealth(taskQueue: string, address = sharedAddress()): Promise<{ exit: number; said: string }> {
  const env = { ...process.env, TEMPORAL_ADDRESS: address, COUNTERSIGN_TASK_QUEUE: taskQueue };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [program], { env }, (_error, _stdout, said) => {
      resolve({ exit: child.exitCode ?? -1, said });
    });
  });
}

/** Polls as a worker on `host` does until `work` is done. */
async function whilePolling<T>(taskQueue: string, host: string, work: () => Promise<T>): Promise<T> {
  const giveUp = new AbortController();
  const poll = connection.withAbortSignal(giveUp.signal, () =>
    connection.withDeadline(Date.now() + 60_000, () =>
      connection.workflowService.pollWorkflowTaskQueue({
        namespace: 'default',
        taskQueue: { name: taskQueue },
        identity: `1@${host}`,
      }),
    ),
  );
  const ended = poll.catch(() => undefined);
  try {
    await eventually('a poller', async () => {
      const request = { namespace: 'default', taskQueue: { name: taskQueue } };
      return (await connection.workflowService.describeTaskQueue(request)).pollers.length > 0;
    });
    return await work();
  } finally {
    giveUp.abort();
    await ended;
  }
}

describe("the health check of the worker's container", () => {
  test('passes while a worker on this host polls', async () => {
    const taskQueue = randomUUID();
    const health = await whilePolling(taskQueue, hostname(), () => checkHealth(taskQueue));
    expect(health).toEqual({ exit: 0, said: '' });
  });

  test('fails with a worker on another host', async () => {
    const taskQueue = randomUUID();
    const health = await whilePolling(taskQueue, 'elsewhere', () => checkHealth(taskQueue));
    expect(health).toEqual({ exit: 1, said: `No worker of ${hostname()} polls task queue '${taskQueue}'.\n` });
  });

  test('fails if nobody polls', async () => {
    const taskQueue = randomUUID();
    expect(await checkHealth(taskQueue)).toEqual({
      exit: 1,
      said: `No worker of ${hostname()} polls task queue '${taskQueue}'.\n`,
    });
  });

  test('reports that the server does not answer', async () => {
    const { exit, said } = await checkHealth('any', '127.0.0.1:1');
    expect(exit).toBe(1);
    expect(said).toMatch(/^Temporal does not answer: .+\n$/);
  });
});
