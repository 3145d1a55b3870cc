import { QueryNotRegisteredError } from '@temporalio/client';
import { setTimeout as sleep } from 'node:timers/promises';
import type { temporal } from '@temporalio/proto';
import { ProblemError, isProblemError } from '../../core/base/problem.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { isNotTakenUp, isNotTakenYet } from './client-plugin.ts';
import { type Session, callServer } from './session.ts';
import {
  grpcStatus,
  grpcStatusOf,
  serverWords,
  translateServerError,
  unreadAnswer,
  readingRemedy,
} from '../../connection/server-error.ts';
import { describeRun, memoRows } from './memo-rows.ts';
import { parseJson } from '../../core/base/json.ts';
import { quoteWord } from '../../text/visible-text.ts';

/**
 * Queries a run, open or closed; its last execution unless `runId` is given. Gives up after `timeoutMs` (default: the
 * client's `queryTimeoutMs`). Throws `no_worker`, `run_not_found`, `server_unreachable`, and `run_closed` for a run
 * that ended before its first workflow task.
 */
export async function queryRun<Answer>(
  session: Session,
  workflowId: string,
  name: string,
  args: unknown[] = [],
  timeoutMs = session.limits.queryTimeoutMs,
  runId?: string,
): Promise<Answer> {
  try {
    const ask = (): Promise<Answer> =>
      session.client.workflow.getHandle(workflowId, runId).query<Answer, unknown[]>(name, ...args);
    const answer = await askWorker(session, workflowId, timeoutMs, () => askAgain(timeoutMs, ask));
    if (isUndecodable(answer)) throw unreadAnswer(workflowId, answer.why);
    return answer;
  } catch (error) {
    // Do not translate a `ProblemError` again, by the status of its cause.
    if (isProblemError(error)) throw error;
    if (isNotTakenUp(error)) {
      const message = `Run '${workflowId}' continues as new, and no worker has verified yet what it continues: ask again.`;
      throw new ProblemError({ code: 'no_worker', message }, { cause: error });
    }
    if (isNotTakenYet(error)) {
      const message = `Events of run '${workflowId}' wait for a worker to take them: ask again.`;
      throw new ProblemError({ code: 'no_worker', message }, { cause: error });
    }
    if (error instanceof QueryNotRegisteredError && saysNoHandler(error)) {
      const message = `'${workflowId}' does not answer as a run of Countersign: ${error.message}`;
      throw new ProblemError({ code: 'run_not_found', message }, { cause: error });
    }
    if (error instanceof QueryNotRegisteredError) {
      const message = `Run '${workflowId}' could not be asked, because a worker failed its query: ask again. ${error.message}`;
      throw new ProblemError({ code: 'no_worker', message }, { cause: error });
    }
    if (grpcStatusOf(error) === grpcStatus.FAILED_PRECONDITION && /task in failed state/i.test(serverWords(error))) {
      const message = `Run '${workflowId}' cannot be asked now: its workflow task fails, and is tried again. The log of its workers says why; after a roll-back, start a worker of the newer version.`;
      throw new ProblemError({ code: 'no_worker', message }, { cause: error });
    }
    if (grpcStatusOf(error) === grpcStatus.FAILED_PRECONDITION) {
      const message = `Run '${workflowId}' cannot be asked: ${serverWords(error)}.`;
      throw new ProblemError({ code: 'run_closed', message }, { cause: error });
    }
    throw translateServerError(error, { address: session.address, namespace: session.namespace, workflowId });
  }
}

/** True if the workflow has no handler for the query. The SDK's error class stands for any failure of a query. */
function saysNoHandler({ message }: QueryNotRegisteredError): boolean {
  return /did not register a handler|unknown query ?type|expected but not found/i.test(message);
}

/**
 * Asks a second time if half of `timeoutMs` brings no answer: the SDK's core may lose a query for a run that it is
 * dropping from its cache (docs/decisions/0058). The first answer counts. If both fail, the earlier failure counts,
 * because a refusal says more than a later time-out.
 */
export async function askAgain<Answer>(timeoutMs: number, ask: () => Promise<Answer>): Promise<Answer> {
  const first = ask();
  const hasEnded = first.then(
    () => true,
    () => true,
  );
  const isSilent = sleep(timeoutMs / 2, false, { ref: false });
  if (await Promise.race([hasEnded, isSilent])) return first;
  const failures: unknown[] = [];
  const noted = (asked: Promise<Answer>): Promise<Answer> =>
    asked.catch((error: unknown) => {
      failures.push(error);
      throw error;
    });
  return Promise.any([noted(first), noted(ask())]).catch(() => {
    throw failures[0];
  });
}

/** How many milliseconds may pass until the first poll of a new worker is visible. */
const graceMs = 1_500;

/**
 * Calls a run that needs a worker to answer, for at most `timeoutMs`. Throws `undecodable` if its workers could not
 * read this client's payloads. Throws `no_worker` when the time is up, and earlier if no worker polls the task queue,
 * or none of the version to which the run is pinned. Throws other errors of the SDK unchanged.
 */
export async function askWorker<Answer>(
  session: Session,
  workflowId: string,
  timeoutMs: number,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  await requireCodec(session, workflowId);
  const giveUp = new AbortController();
  const answer = session.connection.withAbortSignal(giveUp.signal, () =>
    session.connection.withDeadline(Date.now() + timeoutMs, ask),
  );
  let queue: { name: string; isPolled: boolean; version: PinnedVersion | undefined } | undefined;
  // Look for workers meanwhile, so that a call without a worker ends before its time limit.
  const lookingForWorkers = (async () => {
    const run = await callServer(session, () => session.client.workflow.getHandle(workflowId).describe(), {
      workflowId,
    });
    const version = pinnedVersionOf(run.raw.workflowExecutionInfo?.searchAttributes);
    queue = { name: run.taskQueue, isPolled: false, version };
    queue.isPolled = await waitForWorker(session, run.taskQueue, Math.min(graceMs, timeoutMs), version);
    if (!queue.isPolled) giveUp.abort();
  })().catch(() => undefined); // `ask` itself reports problems of the server or the run
  try {
    return await answer;
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    await lookingForWorkers;
    if (queue?.isPolled === true && !isUnpolled(error)) throw notAnswered(session, queue.name, timeoutMs, error);
    if (queue?.version !== undefined) throw noWorkerOfVersion(session, workflowId, queue.version, error);
    if (queue !== undefined) throw noWorker(session, queue.name, error);
    // Without a description of the run, the server itself has reported that the queue has no poller.
    if (grpcStatusOf(error) !== grpcStatus.FAILED_PRECONDITION) throw error;
    const message = `No worker answers for run '${workflowId}': start one with \`countersign worker\`.`;
    throw new ProblemError({ code: 'no_worker', message }, { cause: error });
  }
}

/** True if the time is up, the client gave up, or the server reports a queue without a poller. */
function isUnanswered(error: unknown): boolean {
  const status = grpcStatusOf(error);
  if (status === grpcStatus.DEADLINE_EXCEEDED || status === grpcStatus.CANCELLED) return true;
  return isUnpolled(error);
}

function isUnpolled(error: unknown): boolean {
  return grpcStatusOf(error) === grpcStatus.FAILED_PRECONDITION && /no poller/i.test(serverWords(error));
}

/**
 * Throws `undecodable` if this client's codecs cannot read a run's memo. Then the run's workers cannot read this
 * client's payloads either, and would retry for ever: one message could stop the run.
 */
export async function requireCodec(session: Session, workflowId: string): Promise<void> {
  if (!session.hasCodecs) return;
  const run = await callServer(session, () => describeRun(session, workflowId), { workflowId });
  const { unread } = memoRows(run);
  if (unread === undefined) return;
  const message = `Nothing is sent to run '${workflowId}', because its memo cannot be read: ${unread}. ${readingRemedy}`;
  throw new ProblemError({ code: 'undecodable', message });
}

/** True if a worker (of `version`, if given) has polled recently. The server forgets a dead one only after minutes. */
async function hasWorker(session: Session, taskQueue: string, version: PinnedVersion | undefined): Promise<boolean> {
  const { connection, namespace } = session;
  const answer = await callServer(session, () =>
    connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: taskQueue } }),
  );
  return answer.pollers.some((poller) => version === undefined || isOfVersion(poller, version));
}

/** Waits until a worker (of `version`, if given) polls the task queue; false after `timeoutMs` without one. */
export async function waitForWorker(
  session: Session,
  taskQueue: string,
  timeoutMs: number,
  version?: PinnedVersion,
): Promise<boolean> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    if (await hasWorker(session, taskQueue, version)) return true;
    const leftMs = until - Date.now();
    if (leftMs <= 0) return false;
    await sleep(Math.min(200, leftMs));
  }
}

export function noWorker(session: Session, taskQueue: string, cause?: unknown): ProblemError {
  const message = `No worker answers for task queue '${taskQueue}' of namespace '${session.namespace}': start one with \`countersign worker\`.`;
  return new ProblemError({ code: 'no_worker', message }, { cause });
}

/** The error for a worker that has polled the queue recently, and has not answered in time. */
function notAnswered(session: Session, taskQueue: string, timeoutMs: number, cause: unknown): ProblemError {
  const message = `No worker answers for task queue '${taskQueue}' of namespace '${session.namespace}' yet: one has polled it recently, but has not answered within ${timeoutMs / 1_000} s. It is busy, or gone: ask again, or start one with \`countersign worker\`.`;
  return new ProblemError({ code: 'no_worker', message }, { cause });
}

/** The error for a run that is pinned to a version without workers: other workers do not get its tasks. */
function noWorkerOfVersion(
  session: Session,
  workflowId: string,
  { deploymentName, buildId }: PinnedVersion,
  cause: unknown,
): ProblemError {
  const move = moveCommand(session, '--workflow-id', workflowId);
  const message = `No worker answers for run '${workflowId}': it is pinned to version '${buildId}' of Worker Deployment '${deploymentName}', which no worker has. Start one of this version, or move the run to the current version: \`${move}\`.`;
  return new ProblemError({ code: 'no_worker', message }, { cause });
}

/** A Worker Deployment Version. Only workers of this version get the tasks of a run that is pinned to it. */
export interface PinnedVersion {
  deploymentName: string;
  buildId: string;
}

/** Returns the version to which an execution is pinned, by its workflow or by an override; undefined without one. */
export function pinnedVersionOf(
  attributes: temporal.api.common.v1.ISearchAttributes | null | undefined,
): PinnedVersion | undefined {
  const fields = attributes?.indexedFields ?? {};
  if (textIn(fields['TemporalWorkflowVersioningBehavior']) !== 'Pinned') return undefined;
  const version = textIn(fields['TemporalWorkerDeploymentVersion']) ?? '';
  const at = version.indexOf(':');
  return at === -1 ? undefined : { deploymentName: version.slice(0, at), buildId: version.slice(at + 1) };
}

/** Reads the text in a search attribute that the server itself writes, as JSON. */
function textIn(payload: temporal.api.common.v1.IPayload | undefined): string | undefined {
  const value = payload?.data == null ? undefined : parseJson(Buffer.from(payload.data).toString());
  return typeof value === 'string' ? value : undefined;
}

export function isOfVersion(
  { deploymentOptions }: Pick<temporal.api.taskqueue.v1.IPollerInfo, 'deploymentOptions'>,
  { deploymentName, buildId }: PinnedVersion,
): boolean {
  return deploymentOptions?.deploymentName === deploymentName && deploymentOptions.buildId === buildId;
}

/** Returns the command that moves a run, or all that a query finds, to the current version of their deployment. */
export function moveCommand({ namespace, address }: Session, ...runs: ['--workflow-id' | '--query', string]): string {
  const words = ['temporal', 'workflow', 'update-options', ...runs, '--versioning-override-behavior', 'auto_upgrade'];
  if (runs[0] === '--query') words.push('--yes');
  return [...words, '--namespace', namespace, '--address', address].map(quoteWord).join(' ');
}
