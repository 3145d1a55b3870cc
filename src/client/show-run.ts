import { type RunResult, type RunStatus, type RunStatusName, queryNames } from '../contract.ts';
import type { ApprovalSummary } from '../core/ledger/approval-index.ts';
import { type Problem, isProblemError } from '../core/base/problem.ts';
import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';
import { memoRows } from './memo-rows.ts';
import { queryRun } from './query-run.ts';
import { type Retry, retriesOf } from './retries.ts';
import { runResult } from './run-result.ts';

/** The present state of a run. Without a worker `run` is absent and `note` says why; the rest comes from the server. */
export interface RunView {
  workflowId: string;
  status: RunStatusName;
  taskQueue: string;
  /** ISO 8601. */
  startedAt: string;
  /** ISO 8601; absent while the run is open. */
  closedAt?: string;
  /** Open requests, from the memo; `more` is the number that did not fit there. */
  open: ApprovalSummary[];
  more: number;
  /** Activities that have failed and are tried again; absent if there are none. The query `run` does not show them. */
  retrying?: Retry[];
  /** The run's own report: counts, outcomes, refused decisions. */
  run?: RunStatus;
  /** Present if the run has completed. */
  result?: RunResult;
  /** Why the run failed. */
  failure?: Problem;
  /** Why `run` is absent. */
  note?: string;
}

/** Shows a run, open or closed, with or without a worker. Throws `run_not_found`, `server_unreachable`. */
export async function showRun(session: Session, workflowId: string): Promise<RunView> {
  const described = await callServer(session, () => session.client.workflow.getHandle(workflowId).describe(), {
    workflowId,
  });
  const isOpen = described.status.name === 'RUNNING';
  const asked = queryRun<RunStatus>(session, workflowId, queryNames.run).catch((error: unknown) => {
    if (isProblemError(error)) return error;
    throw error;
  });
  const [answer, ending] = await Promise.all([asked, isOpen ? {} : endingOf(session, workflowId)]);
  const { rows, more } = isOpen ? memoRows(described) : { rows: [], more: 0 };
  // The server still lists the activities of a run that was terminated.
  const retrying = isOpen ? await retriesOf(session, described) : [];
  const run = isProblemError(answer) ? undefined : answer;
  return {
    workflowId,
    status: statusOf(isOpen, rows.length, run, ending),
    taskQueue: described.taskQueue,
    startedAt: described.startTime.toISOString(),
    ...(described.closeTime === undefined ? {} : { closedAt: described.closeTime.toISOString() }),
    open: rows,
    more,
    ...(retrying.length > 0 && { retrying }),
    ...(run === undefined ? {} : { run }),
    ...ending,
    ...(isProblemError(answer) ? { note: answer.message } : {}),
  };
}

type Ending = Pick<RunView, 'result' | 'failure'>;

async function endingOf(session: Session, workflowId: string): Promise<Ending> {
  try {
    return { result: await runResult(session, workflowId, { timeoutMs: 5_000 }) };
  } catch (error) {
    if (!isProblemError(error) || error.code === 'server_unreachable') throw error;
    return { failure: { code: error.code, message: error.message } };
  }
}

function statusOf(isOpen: boolean, rows: number, run: RunStatus | undefined, ending: Ending): RunStatusName {
  if (isOpen) return run?.status ?? (rows > 0 ? 'waiting' : 'running');
  return ending.result?.status ?? 'failed';
}
