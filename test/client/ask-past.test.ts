import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Connection, QueryNotRegisteredError, QueryRejectedError, type WorkflowQueryInput } from '@temporalio/client';
import proto from '@temporalio/proto';
import { AskPast } from '../../src/client/server/client-plugin.ts';
import { openSession } from '../../src/client/server/session.ts';
import { sentences } from '../../src/core/ledger/sentences.ts';

const input: WorkflowQueryInput = {
  queryType: 'approvals',
  args: [],
  workflowExecution: { workflowId: 'run' },
  headers: { own: {} },
};
const { WORKFLOW_EXECUTION_STATUS_TERMINATED: terminated, WORKFLOW_EXECUTION_STATUS_COMPLETED: completed } =
  proto.temporal.api.enums.v1.WorkflowExecutionStatus;
/** As the SDK makes it, which does not export the type of its second argument. */
const refusal = (message: string): Error =>
  Object.assign(Object.create(QueryNotRegisteredError.prototype) as Error, { message });

/** Asks a run that gives these answers in turn, and returns the last one with the queries that it got. */
async function asked(...answers: unknown[]): Promise<{ answer: unknown; queries: WorkflowQueryInput[] }> {
  const queries: WorkflowQueryInput[] = [];
  const next = (query: WorkflowQueryInput): Promise<unknown> => {
    queries.push(query);
    const answer = answers.shift();
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const answer: unknown = await new AskPast(5_000).query(input, next).catch((error: unknown) => error);
  return { answer, queries };
}

describe('a query is asked again', () => {
  test.each([
    ['continues as new', sentences.notTakenUp] as const,
    ['has waiting events', sentences.notTakenYet] as const,
  ])('while the run %s', async (_what, sentence) => {
    const { answer, queries } = await asked(refusal(sentence), refusal(sentence), 'open');
    expect([answer, queries.length]).toEqual(['open', 3]);
  });

  const limits = [
    // A worker may refuse for five seconds.
    { queryTimeoutMs: 5_000, times: 6 },
    { queryTimeoutMs: 8_000, times: 8 },
  ];
  /** How often a run that always refuses is asked, if each time takes a second. */
  async function timesAsked(askPast: AskPast): Promise<number> {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const refusing = vi.fn(() => {
      vi.setSystemTime(Date.now() + 1_000);
      return Promise.reject(refusal(sentences.notTakenUp));
    });
    await expect(askPast.query(input, refusing)).rejects.toThrow(sentences.notTakenUp);
    return refusing.mock.calls.length;
  }

  test.each(limits)(
    '$times times with a limit of $queryTimeoutMs ms, if each time takes a second',
    async ({ queryTimeoutMs, times }) => expect(await timesAsked(new AskPast(queryTimeoutMs))).toBe(times),
  );

  test.each(limits)('$times times by a client whose limit is $queryTimeoutMs ms', async ({ queryTimeoutMs, times }) => {
    const connection = Connection.lazy();
    onTestFinished(() => connection.close());
    const { client } = openSession(connection, { namespace: 'default', address: '127.0.0.1:1', queryTimeoutMs });
    const [askPast] = client.workflow.options.interceptors as AskPast[];
    expect(await timesAsked(askPast!)).toBe(times);
  });

  test('and not of a run that ended before a worker took its last events', async () => {
    const untaken = refusal(sentences.notTakenYet);
    const { answer, queries } = await asked(untaken, new QueryRejectedError(terminated), untaken);
    expect(answer).toMatchObject({ code: 'run_closed', message: sentences.endedUntaken('run') });
    expect(queries.map(({ queryRejectCondition }) => queryRejectCondition)).toEqual([undefined, 2, undefined]);
    expect(queries.map(({ headers }) => Object.keys(headers))).toEqual([['own'], ['own'], ['own']]);
  });

  test('once more of a run that completed between two of them', async () => {
    const { answer } = await asked(refusal(sentences.notTakenYet), new QueryRejectedError(completed), 'completed');
    expect(answer).toBe('completed');
  });
});

test('another refusal is final', async () => {
  const { answer, queries } = await asked(refusal('no such query'));
  expect(answer).toMatchObject({ message: 'no such query' });
  expect(queries).toHaveLength(1);
});
