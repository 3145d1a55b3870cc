import { QueryNotRegisteredError } from '@temporalio/client';
import { expect, test } from 'vitest';
import type { Session } from '../../src/client/server/session.ts';
import { queryRun } from '../../src/client/server/ask-worker.ts';

/** The server's answer once a task queue had no worker for minutes. */
const refusal = Object.assign(new Error('9 FAILED_PRECONDITION'), {
  code: 9,
  details: 'no poller seen for task queue recently, worker may be down',
});

/** A session whose run fails every query with this error. */
function failing(error: Error): Session {
  const handle = {
    query: () => Promise.reject(error),
    describe: () => Promise.resolve({ taskQueue: 'countersign', raw: {} }),
  };
  const call = (_limit: unknown, ask: () => unknown): unknown => ask();
  return {
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
}

test('a task queue that had no worker for minutes is reported as no_worker, not as a closed run', async () => {
  await expect(queryRun(failing(refusal), 'run-1', 'approvals', [], 100)).rejects.toMatchObject({
    code: 'no_worker',
    message: expect.stringMatching(/^No worker answers for task queue 'countersign'/),
  });
});

test.each([
  ['Workflow did not register a handler for approvals. Registered queries: [__stack_trace]', 'run_not_found'],
  ['unknown queryType approvals. KnownQueryTypes=[__stack_trace]', 'run_not_found'],
  ['Unknown query type: approvals, knownTypes=[__stack_trace]', 'run_not_found'],
  ["Query handler for 'approvals' expected but not found, known queries: [__stack_trace]", 'run_not_found'],
  [
    "Failed to initialize workflow of type 'agentRun': no such function is exported by the workflow bundle",
    'no_worker',
  ],
  ["a payload is encrypted with key 'newest', which is not known here", 'no_worker'],
])('a worker that fails a query with "%s" gives %s', async (sentence, code) => {
  const error = Object.assign(Object.create(QueryNotRegisteredError.prototype) as Error, { message: sentence });
  await expect(queryRun(failing(error), 'run-1', 'approvals', [], 100)).rejects.toMatchObject({ code });
});
