import type { temporal } from '@temporalio/proto';
import type { Payload } from '@temporalio/common';
import { grpcStatus, grpcStatusOf } from '../../connection/server-error.ts';
import { type Session, untilAborted, callServer } from '../server/session.ts';
import type { HistoryEvent } from '../../events/history-event.ts';
import { HistoryReader } from './read-history-event.ts';
import { type ReadValue, readPayload, valueReader, decodePayloads } from '../server/read-payload.ts';
import { unreadEncoding } from '../../core/base/undecodable.ts';

/** One part of an execution's history. Payloads are not decoded. */
interface HistoryPage {
  events: Event[];
  /** The token of the next page. Absent if the history has no further events now. */
  next?: Uint8Array;
}

/** The time limit of a call that waits for an event, in milliseconds. The server answers after at most 20 seconds. */
const longPollMs = 60_000;
const callMs = 10_000;

/** Reads a page of a history. With `wait`, waits some seconds for an event. Throws the server's errors unchanged. */
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

/** Yields the pages of an execution's history up to now. Payloads are not decoded. */
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

interface DescribedExecution {
  runId: string;
  /** The number of events in its history so far. */
  historyLength: number;
  /** If an operator has reset the execution: Temporal's run id of the execution that replaced it. */
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
    // The server reports a text that is not a run id as an invalid argument.
    if (status === grpcStatus.NOT_FOUND || status === grpcStatus.INVALID_ARGUMENT) return undefined;
    throw error;
  }
}

type Event = temporal.api.history.v1.IHistoryEvent;

/** The history of one execution of a run, from its start to its end or continue-as-new, as Temporal keeps it. */
export interface HistoryExecution {
  workflowId: string;
  /** Temporal's run id of this execution. */
  runId: string;
  events: temporal.api.history.v1.IHistoryEvent[];
}

/** The histories of all executions of a run. */
export interface HistoryChain {
  /** The executions, oldest first; payloads are not decoded. */
  executions: HistoryExecution[];
  /** Temporal's run id of the newest execution that retention has removed; the executions before it are gone too. */
  missing?: string;
}

/** The facts in the history of one execution. */
export interface ReadExecution {
  runId: string;
  events: readonly HistoryEvent[];
}

/** The facts in the histories of a run. */
export interface ReadRun {
  /** The executions, oldest first; at least one. */
  executions: readonly ReadExecution[];
  missing?: string;
  /** The number of payloads that cannot be decoded here. */
  unread: number;
}

/** Reads a run. `last`: Temporal's run id of its last execution; default: the newest one under this workflow id. */
export async function fetchRun(session: Session, workflowId: string, last?: string): Promise<ReadRun> {
  const { executions, missing } = await fetchHistoryChain(session, workflowId, last);
  const unread = await decodeHistory(
    session,
    executions.flatMap(({ events }) => events),
  );
  return { executions: readHistories(executions, valueReader(session)), missing, unread };
}

/** Reads the facts from histories whose payloads are decoded, oldest first. */
export function readHistories(
  executions: readonly { runId: string; events: readonly Event[] }[],
  read: ReadValue,
): ReadExecution[] {
  const reader = new HistoryReader(read);
  return executions.map(({ runId, events }) => ({ runId, events: events.map((event) => reader.read(event)) }));
}

/** Returns the input of an agent run, by default of its newest execution. Undefined for a custom workflow. */
export async function inputOf(session: Session, execution: { workflowId: string; runId?: string }): Promise<unknown> {
  const { events } = await readPage(session, execution, { size: 1 });
  await decodeHistory(session, events);
  const [started] = readHistories([{ runId: '', events }], valueReader(session))[0]!.events;
  return started?.what?.kind === 'started' ? started.what.input : undefined;
}

/** Returns the first argument of a workflow of any type; undefined if it has none. */
export async function argumentOf(
  session: Session,
  execution: { workflowId: string; runId?: string },
): Promise<unknown> {
  const { events } = await readPage(session, execution, { size: 1 });
  const payload = events[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  return payload == null ? undefined : readPayload(session, payload);
}

/** Fetches all histories of a run. `last`: the run id of its last execution; default: the newest one. */
export async function fetchHistoryChain(session: Session, workflowId: string, last?: string): Promise<HistoryChain> {
  const fetchOne = (runId: string | undefined): Promise<HistoryExecution | undefined> =>
    callServer(
      session,
      async () => {
        const { client } = session;
        const found = runId ?? last ?? (await client.workflow.getHandle(workflowId).describe()).runId;
        try {
          const history = await client.workflow.getHandle(workflowId, found).fetchHistory();
          return { workflowId, runId: found, events: history.events ?? [] };
        } catch (error) {
          // Retention may have removed an earlier execution; the last one must exist.
          if (runId !== undefined && grpcStatusOf(error) === grpcStatus.NOT_FOUND) return undefined;
          throw error;
        }
      },
      { workflowId, timeoutMs: 60_000 },
    );
  return walkBack(fetchOne);
}

interface RunExecutions {
  /** The run ids of the executions that the server has, oldest first. */
  executions: string[];
  /** Temporal's run id of the newest execution that retention has removed. */
  missing?: string;
}

/** Finds the executions of a run. Throws the server's errors unchanged. */
export async function findExecutions(session: Session, workflowId: string): Promise<RunExecutions> {
  const { executions, missing } = await walkBack(async (before) => {
    const found = await (before === undefined
      ? describeExecution(session, { workflowId })
      : findExecution(session, { workflowId, runId: before }));
    if (found === undefined) return undefined;
    const { runId } = found;
    return { runId, ...(await readPage(session, { workflowId, runId }, { size: 1 })) };
  });
  return { executions: executions.map(({ runId }) => runId), missing };
}

/** Calls `read` with undefined for the last execution of a run, and with each run id before it until one is missing. */
async function walkBack<Execution extends { events: readonly Event[] }>(
  read: (runId: string | undefined) => Promise<Execution | undefined>,
): Promise<{ executions: Execution[]; missing?: string }> {
  const newestFirst: Execution[] = [];
  let runId: string | undefined;
  do {
    const execution = await read(runId);
    if (execution === undefined) return { executions: newestFirst.toReversed(), missing: runId };
    newestFirst.push(execution);
    runId = execution.events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
  } while (runId);
  return { executions: newestFirst.toReversed() };
}

const batchSize = 200;

/** Decodes all payloads of the events in place. Returns the number of those that this client cannot decode. */
export function decodeHistory(session: Session, events: readonly Event[]): Promise<number> {
  return decodeWith((payloads) => decodePayloads(session, payloads), events);
}

/** Decodes all payloads of the events in place. Returns the number of those that `decode` marks as unread. */
export async function decodeWith(
  decode: (payloads: Payload[]) => Promise<Payload[]>,
  events: readonly Event[],
): Promise<number> {
  const found = events.flatMap((event) => payloadsIn(event));
  let unread = 0;
  for (let start = 0; start < found.length; start += batchSize) {
    const batch = found.slice(start, start + batchSize);
    for (const [index, { metadata, data }] of (await decode(batch)).entries()) {
      Object.assign(batch[index]!, { metadata, data });
      if (Buffer.from(metadata?.['encoding'] ?? []).toString() === unreadEncoding) unread += 1;
    }
  }
  return unread;
}

/** Returns all payloads in a value, except search attributes and headers, which no codec encodes. */
function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  if (isPayload(value)) return [value];
  const members = Object.entries(value).filter(([name]) => name !== 'searchAttributes' && name !== 'header');
  return members.flatMap(([, member]) => payloadsIn(member));
}

function isPayload(value: object): value is Payload {
  const { metadata, data } = value as Payload;
  return typeof metadata === 'object' && metadata !== null && (data == null || ArrayBuffer.isView(data));
}
