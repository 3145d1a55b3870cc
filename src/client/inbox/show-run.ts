import type { WorkflowExecutionDescription } from '@temporalio/client';
import {
  type CallOutcome,
  type Delivered,
  type RunResult,
  type RunStatus,
  type RunStatusName,
  queryNames,
  workflowType,
} from '../../contract.ts';
import type { ApprovalSummary } from '../../core/ledger/approval-index.ts';
import { type Problem, isProblemError } from '../../core/base/problem.ts';
import { callServer } from '../server/call-server.ts';
import type { Session } from '../server/connect.ts';
import { fetchJournal } from '../history/fetch-journal.ts';
import { deliveriesOf } from './deliveries.ts';
import { type UnreadRun, unreadRun } from './list-approvals.ts';
import { indexedIds, memoRows } from '../server/memo-rows.ts';
import { queryRun } from '../server/query-run.ts';
import { type Retry, retriesOf } from './retries.ts';
import { endOfWorkflow, runResult } from './run-result.ts';

/**
 * The present state of a run, or of a custom workflow with a gate. Without a worker `run` is absent and `note` gives
 * the reason; the rest comes from the server.
 */
export interface RunView {
  workflowId: string;
  /** `agentRun`, or the type of a custom workflow. */
  workflowType: string;
  status: RunStatusName;
  taskQueue: string;
  /** ISO 8601. */
  startedAt: string;
  /** ISO 8601; absent while the run is open. */
  closedAt?: string;
  /** Open requests, from the memo; `more` is the number that did not fit there. */
  open: ApprovalSummary[];
  more: number;
  /** The open requests that cannot be decoded here: a codec is missing or differs. They count in `more`. */
  unread?: UnreadRun;
  /** The deliveries of the open requests to their channels; absent if they have none, or if they are unknown. */
  deliveries?: Delivered[];
  /** Why the deliveries of the open requests are unknown. */
  deliveriesNote?: string;
  /** How the gated calls were settled: the last 200 as the run reports them, else all that history has. */
  outcomes: CallOutcome[];
  /** Activities that have failed and are retried; absent if there are none. The query `run` does not show them. */
  retrying?: Retry[];
  /** The run's own report: counts, outcomes, refused decisions. Only `agentRun` reports. */
  run?: RunStatus;
  /** Present if a run of `agentRun` has completed. */
  result?: RunResult;
  /** The result of a workflow that is not an agent run. */
  returned?: unknown;
  /** Why the run failed, or why its result cannot be read. */
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
  const [report, ending] = await Promise.all<[Report | Promise<Report>, Ending | Promise<Ending>]>([
    described.type === workflowType ? reportOf(session, workflowId) : {},
    isOpen ? {} : endingOf(session, described),
  ]);
  const { rows, more, unread } = isOpen ? openRequests(session, described) : { rows: [], more: 0 };
  // The server still lists the activities of a run that was terminated.
  const retrying = isOpen ? await retriesOf(session, described) : [];
  const { run } = report;
  const delivered = run !== undefined && rows.length > 0 ? await deliveriesOf(session, workflowId) : {};
  const outcomes = run?.outcomes ?? ending.result?.outcomes ?? (await fetchJournal(session, workflowId)).outcomes;
  return {
    workflowId,
    workflowType: described.type,
    status: isOpen ? (run?.status ?? (rows.length + more > 0 ? 'waiting' : 'running')) : 'failed',
    taskQueue: described.taskQueue,
    startedAt: described.startTime.toISOString(),
    ...(described.closeTime !== undefined && { closedAt: described.closeTime.toISOString() }),
    open: rows,
    more,
    ...(unread !== undefined && { unread }),
    ...delivered,
    outcomes,
    ...(retrying.length > 0 && { retrying }),
    ...report,
    ...ending,
  };
}

function openRequests(session: Session, described: WorkflowExecutionDescription): OpenRequests {
  const { rows, more, unread: why } = memoRows(described);
  const requestIds = indexedIds(session, described.raw.workflowExecutionInfo ?? {});
  if (why === undefined || requestIds.length === 0) return { rows, more };
  return { rows, more: requestIds.length, unread: unreadRun(described.workflowId, requestIds, why) };
}

type OpenRequests = Pick<RunView, 'more' | 'unread'> & { rows: ApprovalSummary[] };

type Report = Pick<RunView, 'run' | 'note'>;

async function reportOf(session: Session, workflowId: string): Promise<Report> {
  try {
    return { run: await queryRun<RunStatus>(session, workflowId, queryNames.run) };
  } catch (error) {
    if (isProblemError(error)) return { note: error.message };
    throw error;
  }
}

type Ending = Pick<RunView, 'result' | 'returned' | 'failure'> & { status?: RunStatusName };

/**
 * How a workflow ended: its result, or its failure as a problem. Throws only if the server cannot be reached, or for an
 * unexpected error.
 */
async function endingOf(session: Session, { workflowId, type, status }: WorkflowExecutionDescription): Promise<Ending> {
  const ended: Ending = status.name === 'COMPLETED' ? { status: 'completed' } : {};
  try {
    if (type === workflowType) {
      const result = await runResult(session, workflowId, { timeoutMs: 5_000 });
      return { status: result.status, result };
    }
    const ending = await endOfWorkflow(session, workflowId, { timeoutMs: 5_000 });
    return 'isCancelled' in ending ? { status: 'cancelled' } : { ...ended, returned: ending.returned };
  } catch (error) {
    if (!isProblemError(error) || error.code === 'server_unreachable') throw error;
    return { ...ended, failure: { code: error.code, message: error.message } };
  }
}
