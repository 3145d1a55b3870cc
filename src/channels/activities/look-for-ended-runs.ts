import { activityInfo } from '@temporalio/activity';
import type { temporal } from '@temporalio/proto';
import { callServer, inParallel, type Session } from '../../client/server/session.ts';
import { listedExecutions } from '../../client/server/memo-rows.ts';
import { queryRun } from '../../client/server/ask-worker.ts';
import { readPayload } from '../../client/server/read-payload.ts';
import {
  changedName,
  channelsWorkflowId,
  channelsWorkflowType,
  type Delivered,
  deliveriesName,
  endedRunsWorkflowId,
  runMemoName,
} from '../../contract.ts';
import { isProblemError } from '../../core/base/problem.ts';

/** Returns `open`, how many workflows of channels are open on the task queue. */
export type LookForEndedRuns = () => Promise<{ open: number }>;

type Listed = temporal.api.workflow.v1.IWorkflowExecutionInfo;

/** The most ids in one visibility query. */
const mostIds = 100;
/** The most request ids in one signal. */
const mostInSignal = 100;
const atOnce = 10;
const prefix = channelsWorkflowId('');

/**
 * The activity `countersign.lookForEndedRuns`. It signals open workflows of channels to check the requests of a run
 * that has ended.
 */
export function createLookForEndedRuns(session: () => Session): LookForEndedRuns {
  return () => lookForEndedRuns(session(), activityInfo().taskQueue);
}

/** Signals each open workflow of channels whose run has ended. Returns how many workflows of channels are open. */
export async function lookForEndedRuns(session: Session, taskQueue: string): Promise<{ open: number }> {
  const query = `WorkflowType = '${channelsWorkflowType}' AND ExecutionStatus = 'Running' AND TaskQueue = ${quoted(taskQueue)}`;
  let open = 0;
  for await (const page of listedExecutions(session, { query })) {
    const rows = await Promise.all(page.map((each) => channelsOf(session, each)));
    const listed = rows.filter((each) => each !== undefined);
    open += listed.length;
    for (let from = 0; from < listed.length; from += mostIds) {
      const some = listed.slice(from, from + mostIds);
      const runs = some.map(({ run }) => run);
      const running = await runningOf(session, runs);
      const ended = some.filter(({ run }) => !running.has(run));
      await inParallel(ended, atOnce, (each) => signalEndOfRun(session, each));
    }
  }
  return { open };
}

interface ChannelsOfRun {
  channelsId: string;
  run: string;
}

/**
 * Reads a row of the list: a workflow of channels and its run's id. Undefined if the workflow's id is not that of the
 * channels of this run, because anyone may write a memo, and if this worker cannot decode the memo.
 */
async function channelsOf(session: Session, { execution, memo }: Listed): Promise<ChannelsOfRun | undefined> {
  const channelsId = execution?.workflowId ?? '';
  if (!channelsId.startsWith(prefix)) return undefined;
  const named = memo?.fields?.[runMemoName];
  const run = named == null ? channelsId.slice(prefix.length) : await readPayload(session, named);
  return typeof run === 'string' && channelsWorkflowId(run) === channelsId ? { channelsId, run } : undefined;
}

async function runningOf(session: Session, workflowIds: readonly string[]): Promise<Set<string>> {
  // Query the close time and not the status: a paused run is open, but its status is not `Running`.
  const query = `CloseTime IS NULL AND WorkflowId IN (${workflowIds.map(quoted).join(', ')})`;
  const found = new Set<string>();
  for await (const page of listedExecutions(session, { query })) {
    for (const { execution } of page) found.add(execution?.workflowId ?? '');
  }
  return found;
}

/**
 * Signals the workflow of an ended run's channels, with the ids of the requests that this workflow still tracks. It
 * then reads that they are settled, and stops tracking them, so the next check signals nothing.
 */
async function signalEndOfRun(session: Session, { channelsId, run }: ChannelsOfRun): Promise<void> {
  try {
    // Ask the server again, because the visibility index may lag, and finds no id that contains a quotation mark.
    if (await isOpen(session, run)) return;
    const followed = await queryRun<Delivered[]>(session, channelsId, deliveriesName);
    const requestIds = followed.map(({ requestId }) => requestId);
    const handle = session.client.workflow.getHandle(channelsId);
    for (let from = 0; from < requestIds.length; from += mostInSignal) {
      const changed = { requestIds: requestIds.slice(from, from + mostInSignal) };
      await callServer(session, () => handle.signal(changedName, changed), { workflowId: channelsId });
    }
  } catch (error) {
    // The workflow has ended meanwhile, or no worker answers for it now. The next check is in a minute.
    if (!isProblemError(error)) throw error;
  }
}

/** True if the execution exists and has not closed. This asks the server, because the visibility index may lag. */
async function isOpen(session: Session, workflowId: string): Promise<boolean> {
  try {
    const describe = () => session.client.workflow.getHandle(workflowId).describe();
    return (await callServer(session, describe, { workflowId })).closeTime === undefined;
  } catch (error) {
    if (isProblemError(error) && error.code === 'run_not_found') return false;
    throw error;
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** How long this process relies on an earlier start of the workflow, in milliseconds. */
const ensureEveryMs = 30_000;

/**
 * Returns a function that starts the workflow that looks for ended runs on a task queue, unless one is open. The
 * function throws the server's errors.
 */
export function createEnsureLooking(session: () => Session): (taskQueue: string) => Promise<void> {
  const ensuredMs = new Map<string, number>();
  return async (taskQueue) => {
    const nowMs = Date.now();
    if (nowMs - (ensuredMs.get(taskQueue) ?? -Infinity) < ensureEveryMs) return;
    const workflowId = endedRunsWorkflowId(taskQueue);
    const start = { workflowId, taskQueue, args: [], workflowIdConflictPolicy: 'USE_EXISTING' } as const;
    await callServer(session(), () => session().client.workflow.start(channelsWorkflowType, start), { workflowId });
    ensuredMs.set(taskQueue, nowMs);
  };
}
