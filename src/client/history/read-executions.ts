import type { temporal } from '@temporalio/proto';
import { grpcStatus, grpcStatusOf } from '../../connection/server-error.ts';
import type { Session } from '../server/connect.ts';
import { untilAborted } from '../server/call-server.ts';

type Event = temporal.api.history.v1.IHistoryEvent;

/** One part of an execution's history. Payloads are not decoded. */
export interface HistoryPage {
  events: Event[];
  /** The token of the next page. Absent: the history has no further events now. */
  next?: Uint8Array;
}

/** How long a call waits for a new event, in milliseconds. The server answers after 20 seconds at the latest. */
const longPollMs = 60_000;
const callMs = 10_000;

/**
 * Reads a part of an execution's history. `wait`: waits for a new event, but only some seconds. Throws the server's
 * errors unchanged.
 */
export async function readPage(
  session: Session,
  execution: { workflowId: string; runId?: string },
  options: { after?: Uint8Array; size?: number; wait?: boolean; signal?: AbortSignal } = {},
): Promise<HistoryPage> {
  const { after, size = 250, wait = false, signal } = options;
  const { connection, namespace } = session;
  const call = () =>
    connection.withDeadline(Date.now() + (wait ? longPollMs : callMs), () =>
      connection.workflowService.getWorkflowExecutionHistory({
        namespace,
        execution,
        maximumPageSize: size,
        waitNewEvent: wait,
        nextPageToken: after ?? new Uint8Array(),
      }),
    );
  const answer = await (signal === undefined ? call() : untilAborted(session, signal, call));
  const { history, nextPageToken: next } = answer;
  return { events: history?.events ?? [], ...(next.length > 0 && { next }) };
}

/** The pages of an execution's history up to now. Payloads are not decoded. */
export async function* pagesOf(
  session: Session,
  execution: { workflowId: string; runId: string },
  size?: number,
): AsyncGenerator<Event[], void, undefined> {
  let after: Uint8Array | undefined;
  do {
    const { events, next } = await readPage(session, execution, { after, size });
    yield events;
    after = next;
  } while (after !== undefined);
}

/** An execution as the server describes it. */
export interface DescribedExecution {
  runId: string;
  /** Events of its history so far. */
  historyLength: number;
  /** Temporal's run id of the execution that replaced it, if an operator has reset it. */
  resetRunId?: string;
}

/** Describes an execution. Throws the server's errors unchanged. */
export async function describeExecution(
  { connection, namespace }: Session,
  execution: { workflowId: string; runId?: string },
): Promise<DescribedExecution> {
  const { workflowExecutionInfo: info, workflowExtendedInfo: more } = await connection.withDeadline(
    Date.now() + callMs,
    () => connection.workflowService.describeWorkflowExecution({ namespace, execution }),
  );
  const resetRunId = more?.resetRunId ?? '';
  return {
    runId: info?.execution?.runId ?? '',
    historyLength: Number(info?.historyLength ?? 0),
    ...(resetRunId !== '' && { resetRunId }),
  };
}

/** Describes an execution; returns undefined if the server does not have it. */
export async function findExecution(
  session: Session,
  execution: { workflowId: string; runId: string },
): Promise<DescribedExecution | undefined> {
  try {
    return await describeExecution(session, execution);
  } catch (error) {
    const status = grpcStatusOf(error);
    // A text that is not a run id is an invalid argument.
    if (status === grpcStatus.NOT_FOUND || status === grpcStatus.INVALID_ARGUMENT) return undefined;
    throw error;
  }
}
