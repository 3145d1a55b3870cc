import { expect, test } from 'vitest';
import type { Session } from '../../src/client/server/connect.ts';
import { queryRun } from '../../src/client/server/query-run.ts';

/** The server's answer once a task queue had no worker for minutes. */
const refusal = Object.assign(new Error('9 FAILED_PRECONDITION'), {
  code: 9,
  details: 'no poller seen for task queue recently, worker may be down',
});

test('a task queue that had no worker for minutes is reported as no_worker, not as a closed run', async () => {
  const handle = {
    query: () => Promise.reject(refusal),
    describe: () => Promise.resolve({ taskQueue: 'countersign' }),
  };
  const call = (_limit: unknown, ask: () => unknown): unknown => ask();
  const session = {
    namespace: 'default',
    address: 'localhost:7233',
    hasCodecs: false,
    client: { workflow: { getHandle: () => handle } },
    connection: {
      withAbortSignal: call,
      withDeadline: call,
      workflowService: { describeTaskQueue: () => Promise.resolve({ pollers: [] }) },
    },
  } as unknown as Session;
  await expect(queryRun(session, 'run-1', 'approvals', [], 100)).rejects.toMatchObject({
    code: 'no_worker',
    message: expect.stringMatching(/^No worker answers for task queue 'countersign'/),
  });
});
