import { WorkflowFailedError, type WorkflowExecutionDescription } from '@temporalio/client';
import { optionalTsToDate } from '@temporalio/common/lib/time.js';
import type { temporal } from '@temporalio/proto';
import {
  queryNames,
  workflowType,
  type CallOutcome,
  type Delivered,
  type RunResult,
  type RunStatus,
  type RunStatusName,
} from '../../contract.ts';
import type { ApprovalSummary } from '../../core/ledger/approval-index.ts';
import { isProblemError, ProblemError, problemCodeOf, type Problem } from '../../core/base/problem.ts';
import { callServer, untilAborted, type Session } from '../server/session.ts';
import { fetchJournal } from '../history/fetch-journal.ts';
import { deliveriesOf } from './deliveries.ts';
import { unreadRun, type UnreadRun } from './list-approvals.ts';
import { indexedIds, memoRows } from '../server/memo-rows.ts';
import { queryRun } from '../server/ask-worker.ts';
import { readPayload } from '../server/read-payload.ts';
import { ActivityFailure, ApplicationFailure, CancelledFailure, TerminatedFailure } from '@temporalio/common';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { translateServerError, unreadAnswer } from '../../connection/server-error.ts';

/** The state of a run, or of a custom workflow with a gate. Without a worker, `run` is absent, and `note` says why. */
export interface RunView {
  workflowId: string;
  /** The type of the workflow: `agentRun`, or that of a custom workflow. */
  workflowType: string;
  status: RunStatusName;
  taskQueue: string;
  /** The time of its start, in ISO 8601. */
  startedAt: string;
  /** The time of its end, in ISO 8601. Absent while the run is open. */
  closedAt?: string;
  /** The open requests, from the memo. `more` is the number of those that did not fit into the memo. */
  open: ApprovalSummary[];
  more: number;
  /** The open requests that this client cannot decode, because it lacks a codec or its key. They count in `more`. */
  unread?: UnreadRun;
  /** The deliveries of open requests to their channels. Absent without channels, and if they are unknown. */
  deliveries?: Delivered[];
  /** The reason why the deliveries are unknown. */
  deliveriesNote?: string;
  /** How the gated calls were settled: the last 200 if the run reports them, else all that history has. */
  outcomes: CallOutcome[];
  /** The activities that failed and are retried, which query `run` does not show. Absent if there are none. */
  retrying?: Retry[];
  /** The counts, outcomes and refused decisions that a worker reports. Only an `agentRun` has them. */
  run?: RunStatus;
  /** The result of an `agentRun` that has completed. */
  result?: RunResult;
  /** The result of a workflow that is not an agent run. */
  returned?: unknown;
  /** The reason why the run failed, or why its result cannot be read. */
  failure?: Problem;
  /** The reason why `run` is absent. */
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
  // Without a worker's report, the memo shows whether the run waits.
  const openStatus = run?.status ?? (rows.length + more > 0 ? 'waiting' : 'running');
  return {
    workflowId,
    workflowType: described.type,
    // The status in `ending` overrides this one. A failed run has none there.
    status: isOpen ? openStatus : 'failed',
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

/** Asks a worker for the state of a run. A `note` says why none answers. */
async function reportOf(session: Session, workflowId: string): Promise<Report> {
  try {
    return { run: await queryRun<RunStatus>(session, workflowId, queryNames.run) };
  } catch (error) {
    if (isProblemError(error)) return { note: error.message };
    throw error;
  }
}

type Ending = Pick<RunView, 'result' | 'returned' | 'failure'> & { status?: RunStatusName };

/** Returns a run's result, or its failure as a problem. Throws for an unreachable server or an unexpected error. */
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

type Failure = temporal.api.failure.v1.IFailure;

/** An activity of a run, such as a model call, that has failed and is retried. */
export interface Retry {
  /** The type of the activity: `countersign.callModel`, or the name of a tool. */
  activity: string;
  /** The number of the attempt that runs or comes next. */
  attempt: number;
  /** The most attempts of the activity; some failures end it earlier. Absent if there is no limit. */
  maxAttempts?: number;
  /** The reason why the last attempt failed. */
  message: string;
  /** The type of that failure, such as `model_unavailable`. */
  type?: string;
  /** The time of the next attempt, in ISO 8601. Absent while an attempt runs. */
  nextAttemptAt?: string;
}

/** Reads the retries from the server's description, because workflow code sees only how an activity ends. */
async function retriesOf(session: Session, { raw }: WorkflowExecutionDescription): Promise<Retry[]> {
  const retries = (raw.pendingActivities ?? []).map(async (pending): Promise<Retry[]> => {
    const { activityType, attempt, maximumAttempts, lastFailure, nextAttemptScheduleTime } = pending;
    if (lastFailure == null) return [];
    const type = lastFailure.applicationFailureInfo?.type;
    const nextAttemptAt = optionalTsToDate(nextAttemptScheduleTime)?.toISOString();
    const retry = {
      activity: activityType?.name ?? '',
      attempt: attempt ?? 1,
      ...(maximumAttempts && { maxAttempts: maximumAttempts }),
      message: await failureMessage(session, lastFailure),
      ...(type && { type }),
      ...(nextAttemptAt !== undefined && { nextAttemptAt }),
    };
    return [retry];
  });
  return (await Promise.all(retries)).flat();
}

/** Returns the message of a failure, which a codec may have encrypted. */
async function failureMessage(session: Session, { message, encodedAttributes }: Failure): Promise<string> {
  const read = encodedAttributes == null ? undefined : await readPayload(session, encodedAttributes);
  const { message: encoded } = (read ?? {}) as { message?: unknown };
  return typeof encoded === 'string' ? encoded : (message ?? '');
}

interface ResultOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
}

/**
 * Waits for a run to end; an ended run needs no worker. A cancelled run has an empty result. Throws the failure of the
 * run, `run_not_found`, the reason of an aborted `signal`, and `server_unreachable`: then the run continues, ask again.
 */
export async function runResult(session: Session, workflowId: string, options: ResultOptions = {}): Promise<RunResult> {
  const ending = await endOfWorkflow(session, workflowId, options);
  if ('isCancelled' in ending) {
    return { status: 'cancelled', output: '', usage: { inputTokens: 0, outputTokens: 0 }, outcomes: [] };
  }
  const { returned } = ending;
  if (typeof returned === 'object' && returned !== null) return returned as RunResult;
  throw unreadableResult(workflowId);
}

/** Waits for a workflow of any type to end, with any result. Throws as `runResult` does. */
export async function endOfWorkflow(
  session: Session,
  workflowId: string,
  { timeoutMs, signal }: ResultOptions = {},
): Promise<{ returned: unknown } | { isCancelled: true }> {
  const limits = [
    ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)]),
    ...(signal === undefined ? [] : [signal]),
  ];
  try {
    const returned: unknown = await untilAborted(session, AbortSignal.any(limits), () =>
      session.client.workflow.getHandle(workflowId).result(),
    );
    if (isUndecodable(returned))
      throw returned.unread ? unreadAnswer(workflowId, returned.why) : unreadableResult(workflowId);
    return { returned };
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    if (!(error instanceof WorkflowFailedError)) {
      throw translateServerError(error, { address: session.address, namespace: session.namespace, workflowId });
    }
    const cause = rootOf(error);
    if (cause instanceof CancelledFailure) return { isCancelled: true };
    const code = problemCodeOf(cause instanceof ApplicationFailure ? cause.type : undefined);
    const how = cause instanceof TerminatedFailure ? 'was terminated' : 'failed';
    const why = cause?.message ?? error.message;
    throw new ProblemError({ code, message: `Run '${workflowId}' ${how}: ${why}` }, { cause: error });
  }
}

function unreadableResult(workflowId: string): ProblemError {
  return new ProblemError({ code: 'undecodable', message: `The result of run '${workflowId}' cannot be read.` });
}

/** Returns the error that made the run fail. An `ActivityFailure` only wraps the error that has the message. */
function rootOf({ cause }: WorkflowFailedError): Error | undefined {
  return cause instanceof ActivityFailure && cause.cause instanceof Error ? cause.cause : cause;
}
