import { setTimeout as sleep } from 'node:timers/promises';
import type { temporal } from '@temporalio/proto';
import { ProblemError } from '../../core/base/problem.ts';
import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';
import { parseJson } from '../../core/base/json.ts';
import { quoteWord } from '../../text/visible-text.ts';

/**
 * True if a worker, of this version if one is given, has polled `taskQueue` recently. The server forgets a dead worker
 * only after minutes.
 */
async function hasWorker(session: Session, taskQueue: string, version: PinnedVersion | undefined): Promise<boolean> {
  const answer = await callServer(session, () =>
    session.connection.workflowService.describeTaskQueue({
      namespace: session.namespace,
      taskQueue: { name: taskQueue },
    }),
  );
  return answer.pollers.some((poller) => version === undefined || isOfVersion(poller, version));
}

/**
 * Waits for at most `timeoutMs` until a worker, of this version if one is given, polls `taskQueue`; returns whether one
 * does.
 */
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

/** The error if no worker polls the queue. */
export function noWorker(session: Session, taskQueue: string, cause?: unknown): ProblemError {
  return new ProblemError(
    {
      code: 'no_worker',
      message: `No worker answers for task queue '${taskQueue}' of namespace '${session.namespace}': start one with \`countersign worker\`.`,
    },
    { cause },
  );
}

/** The error if a worker has polled the queue recently, but has not answered in time. */
export function notAnswered(session: Session, taskQueue: string, timeoutMs: number, cause: unknown): ProblemError {
  const message = `No worker answers for task queue '${taskQueue}' of namespace '${session.namespace}' yet: one has polled it recently, but has not answered within ${timeoutMs / 1_000} s. It is busy, or gone: ask again, or start one with \`countersign worker\`.`;
  return new ProblemError({ code: 'no_worker', message }, { cause });
}

/** The error if the run is pinned to a version of which no worker polls: other workers do not get its tasks. */
export function noWorkerOfVersion(
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

/** The version to which an execution is pinned, by its workflow or by an override; undefined without one. */
export function pinnedVersionOf(
  attributes: temporal.api.common.v1.ISearchAttributes | null | undefined,
): PinnedVersion | undefined {
  const fields = attributes?.indexedFields ?? {};
  if (textIn(fields['TemporalWorkflowVersioningBehavior']) !== 'Pinned') return undefined;
  const version = textIn(fields['TemporalWorkerDeploymentVersion']) ?? '';
  const at = version.indexOf(':');
  return at === -1 ? undefined : { deploymentName: version.slice(0, at), buildId: version.slice(at + 1) };
}

/** The text in a payload of a search attribute that the server itself writes, as JSON. */
function textIn(payload: temporal.api.common.v1.IPayload | undefined): string | undefined {
  const value = payload?.data == null ? undefined : parseJson(Buffer.from(payload.data).toString());
  return typeof value === 'string' ? value : undefined;
}

/** True if the poller is a worker of the version. */
export function isOfVersion(
  { deploymentOptions }: Pick<temporal.api.taskqueue.v1.IPollerInfo, 'deploymentOptions'>,
  { deploymentName, buildId }: PinnedVersion,
): boolean {
  return deploymentOptions?.deploymentName === deploymentName && deploymentOptions.buildId === buildId;
}

/**
 * The command that moves a run, or all runs that a visibility query finds, to the current version of their deployment.
 */
export function moveCommand({ namespace, address }: Session, ...runs: ['--workflow-id' | '--query', string]): string {
  const words = ['temporal', 'workflow', 'update-options', ...runs, '--versioning-override-behavior', 'auto_upgrade'];
  if (runs[0] === '--query') words.push('--yes');
  return [...words, '--namespace', namespace, '--address', address].map(quoteWord).join(' ');
}
