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
const mostInSignal = 100;
const atOnce = 10;
const prefix = channelsWorkflowId('');

/** The activity `countersign.lookForEndedRuns`, which tells channels that a run has ended without a last message. */
export function createLookForEndedRuns(session: () => Session): LookForEndedRuns {
  return () => lookForEndedRuns(session(), activityInfo().taskQueue);
}

/** Signals each open workflow of channels whose run has ended. Returns how many workflows of channels are open. */
export async function lookForEndedRuns(session: Session, taskQueue: string): Promise<{ open: number }> {
  const query = `WorkflowType = '${channelsWorkflowType}' AND ExecutionStatus = 'Running' AND TaskQueue = ${quoted(taskQueue)}`;
  let open = 0;
  for await (const page of listedExecutions(session, { query })) {
    const rows = await Promise.all(page.map((row) => channelsOf(session, row)));
    const workflows = rows.filter((row) => row !== undefined);
    open += workflows.length;
    for (let from = 0; from < workflows.length; from += mostIds) {
      const batch = workflows.slice(from, from + mostIds);
      const openRuns = await openRunsOf(session, batch);
      const ended = batch.filter(({ run }) => !openRuns.has(run));
      await inParallel(ended, atOnce, (workflow) => signalEndOfRun(session, workflow));
    }
  }
  return { open };
}

interface ChannelsOfRun {
  channelsId: string;
  run: string;
}

/** Reads the run's id from a memo, which anyone may write: undefined if unreadable, or if that run has others. */
async function channelsOf(session: Session, { execution, memo }: Listed): Promise<ChannelsOfRun | undefined> {
  const channelsId = execution?.workflowId ?? '';
  if (!channelsId.startsWith(prefix)) return undefined;
  const named = memo?.fields?.[runMemoName];
  const run = named == null ? channelsId.slice(prefix.length) : await readPayload(session, named);
  return typeof run === 'string' && channelsWorkflowId(run) === channelsId ? { channelsId, run } : undefined;
}

/** Returns the ids of those runs that are open. */
async function openRunsOf(session: Session, workflows: readonly ChannelsOfRun[]): Promise<Set<string>> {
  // Query the close time and not the status: a paused run is open, but its status is not `Running`.
  const query = `CloseTime IS NULL AND WorkflowId IN (${workflows.map(({ run }) => quoted(run)).join(', ')})`;
  const open = new Set<string>();
  for await (const page of listedExecutions(session, { query })) {
    for (const { execution } of page) open.add(execution?.workflowId ?? '');
  }
  return open;
}

/** Signals the workflow of an ended run's channels to read its requests again. It then finds them settled. */
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

/** Returns a function that starts the workflow that looks for ended runs of a task queue, unless one is open. */
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
