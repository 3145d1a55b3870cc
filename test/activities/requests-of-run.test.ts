import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { createRequestsOfRun } from '../../src/channels/activities/look-at-requests.ts';
import type { Session } from '../../src/client/server/session.ts';
import { timeLimits } from '../../src/client/server/time-limits.ts';
import { Undecodable } from '../../src/core/base/undecodable.ts';
import { channelRequest } from '../channels/channel-request.ts';

const request = channelRequest();
const { workflowId, requestId } = request;
const [other, unknown] = ['a'.repeat(32), 'b'.repeat(32)];
const second = { ...request, requestId: other };

interface Run {
  type?: string;
  taskQueue?: string;
  status?: string;
  /** The answers, one a query; the last one repeats. */
  answers?: unknown[];
}

const refusal = (details: string): Error =>
  Object.assign(new Error(`9 FAILED_PRECONDITION: ${details}`), { code: 9, details });

/** Asks a run for three requests, of which it has two. */
function read({ type = 'agentRun', taskQueue = 'test', status = 'RUNNING', answers = [] }: Run): Promise<unknown> {
  const left = [...answers];
  const handle = {
    describe: async () => ({ workflowId, runId: 'run', type, taskQueue, status: { name: status } }),
    query: async () => {
      const answer = left.length > 1 ? left.shift() : left[0];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const call = (_limit: unknown, ask: () => unknown): unknown => ask();
  const session = {
    namespace: 'default',
    address: 'localhost:7233',
    hasCodecs: false,
    limits: timeLimits({}),
    client: { workflow: { getHandle: () => handle } },
    connection: {
      withAbortSignal: call,
      withDeadline: call,
      workflowService: { describeTaskQueue: async () => ({ pollers: [{}] }) },
    },
  } as unknown as Session;
  const requestsOf = createRequestsOfRun(() => session, ['agentRun']);
  return new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(() =>
    requestsOf(workflowId, [requestId, unknown, other]),
  );
}

const ids = (found: unknown): string[] => (found as { requestId: string }[]).map((each) => each.requestId);

test('what the run says that it does not have is left out', async () => {
  expect(ids(await read({ answers: [[request, null, second]] }))).toEqual([requestId, other]);
});

test('what an answer had no room for is asked again', async () => {
  expect(ids(await read({ answers: [[request], [null, second]] }))).toEqual([requestId, other]);
});

test.each<[string, Run]>([
  ['a run that ended before its first task', { status: 'TERMINATED', answers: [refusal('workflow is closed')] }],
])('%s has none of them', async (_name, run) => {
  expect(await read(run)).toEqual([]);
});

test('on another task queue there is no such run', async () => {
  expect(await read({ taskQueue: 'elsewhere' })).toBeUndefined();
});

test.each<[string, Run]>([
  ['a workflow that this worker does not trust', { type: 'orders' }],
  ['a query that fails', { answers: [refusal('Cannot query workflow due to Workflow Task in failed state.')] }],
  ['an open run that the server does not ask yet', { answers: [refusal('workflow task is not scheduled yet')] }],
  ['no answer', { answers: [undefined] }],
  ['an empty answer', { answers: [[]] }],
  ['an answer that has no room for the rest', { answers: [[request], []] }],
  ['an undecodable answer', { answers: [new Undecodable(7, 'not JSON')] }],
  ['an answer that cannot be read here', { answers: [new Undecodable(0, 'encoded', { unread: true })] }],
  ['an answer about other requests', { answers: [[second, null, request]] }],
  ['an answer of another run', { answers: [[{ ...request, workflowId: 'other' }, null, second]] }],
])('%s says nothing about them: the activity fails and is tried again', async (_name, run) => {
  await expect(read(run)).rejects.toThrow();
});
