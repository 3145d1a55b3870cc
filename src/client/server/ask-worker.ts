import { ProblemError } from '../../core/base/problem.ts';
import type { Session } from './connect.ts';
import { callServer } from './call-server.ts';
import { grpcStatus, grpcStatusOf, serverWords, readingRemedy } from '../../connection/server-error.ts';
import { pinnedVersionOf, type PinnedVersion } from './pinned-version.ts';
import { noWorker, noWorkerOfVersion, notAnswered, waitForWorker } from './worker-presence.ts';
import { describeRun, memoRows } from './memo-rows.ts';

/** How long a worker that has just started may take until its first poll is visible, in milliseconds. */
const graceMs = 1_500;

/**
 * Calls a run for an answer that needs a worker (a query, an update), for at most `timeoutMs`. Throws `undecodable` if
 * the run's workers could not read this client's payloads. Throws `no_worker` when the time is up; and early if nothing
 * polls the run's task queue, or no worker of the version to which the run is pinned. Throws other errors of the SDK
 * unchanged.
 */
export async function askWorker<Answer>(
  session: Session,
  workflowId: string,
  timeoutMs: number,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  await requireCodec(session, workflowId);
  const giveUp = new AbortController();
  const asked = session.connection.withAbortSignal(giveUp.signal, () =>
    session.connection.withDeadline(Date.now() + timeoutMs, ask),
  );
  let queue: { name: string; isPolled: boolean; version: PinnedVersion | undefined } | undefined;
  const watched = (async () => {
    const run = await callServer(session, () => session.client.workflow.getHandle(workflowId).describe(), {
      workflowId,
    });
    const version = pinnedVersionOf(run.raw.workflowExecutionInfo?.searchAttributes);
    queue = { name: run.taskQueue, isPolled: false, version };
    queue.isPolled = await waitForWorker(session, run.taskQueue, Math.min(graceMs, timeoutMs), version);
    if (!queue.isPolled) giveUp.abort();
  })().catch(() => undefined); // `ask` itself reports problems of the server or the run
  try {
    return await asked;
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    await watched;
    if (queue?.isPolled === true && !isUnpolled(error)) throw notAnswered(session, queue.name, timeoutMs, error);
    if (queue?.version !== undefined) throw noWorkerOfVersion(session, workflowId, queue.version, error);
    if (queue !== undefined) throw noWorker(session, queue.name, error);
    // The run could not be described, but the server itself has reported that its queue has no poller.
    if (grpcStatusOf(error) !== grpcStatus.FAILED_PRECONDITION) throw error;
    const message = `No worker answers for run '${workflowId}': start one with \`countersign worker\`.`;
    throw new ProblemError({ code: 'no_worker', message }, { cause: error });
  }
}

/**
 * True if an error means that no worker has answered: the time is up, the client gave up, or the server refuses to wait
 * because the queue had no poller for minutes.
 */
function isUnanswered(error: unknown): boolean {
  const status = grpcStatusOf(error);
  if (status === grpcStatus.DEADLINE_EXCEEDED || status === grpcStatus.CANCELLED) return true;
  return isUnpolled(error);
}

/** True if an error of the server means that the queue has no poller. */
function isUnpolled(error: unknown): boolean {
  return grpcStatusOf(error) === grpcStatus.FAILED_PRECONDITION && /no poller/i.test(serverWords(error));
}

/**
 * Throws `undecodable` if this client has codecs and they cannot read the memo of a run. Its workers could then not
 * read this client's payloads, and a worker without the key retries until it has it: one message could stop the run.
 */
export async function requireCodec(session: Session, workflowId: string): Promise<void> {
  if (!session.hasCodecs) return;
  const run = await callServer(session, () => describeRun(session, workflowId), { workflowId });
  const { unread } = memoRows(run);
  if (unread === undefined) return;
  throw new ProblemError({
    code: 'undecodable',
    message: `Nothing is sent to run '${workflowId}', because its memo cannot be read: ${unread}. ${readingRemedy}`,
  });
}
