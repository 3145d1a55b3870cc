import type { temporal } from '@temporalio/proto';
import { projectRun } from '../../src/client/history/fetch-journal.ts';
import { type ReadExecution, readHistories } from '../../src/client/history/history-chain.ts';
import { readValue } from '../../src/client/server/read-payload.ts';

type History = temporal.api.history.v1.IHistory & { runId?: string };

/** The executions of a run, oldest first, whose payloads no codec has encoded. */
export function readExecutions(histories: readonly History[]): ReadExecution[] {
  const executions = histories.map(({ runId = '', events }) => ({ runId, events: events ?? [] }));
  return readHistories(executions, readValue);
}

/** The journal of a run and its projection. */
export function projectHistories(histories: readonly History[]): ReturnType<typeof projectRun> {
  return projectRun(readExecutions(histories));
}
