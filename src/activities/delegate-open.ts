import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { Context } from '@temporalio/activity';
import { isProblemError, isTransient } from '../core/base/problem.ts';
import { delegateOne, openRequestsOf, requestKey } from '../client/inbox/delegate-all.ts';
import type { StandingInput, StandingProgress } from '../client/inbox/standing-delegations.ts';
import {
  longestLeft,
  mostLeft,
  mostTried,
  readProgress,
  readStanding,
  standingDelegationId,
} from '../client/inbox/standing-delegations.ts';
import { delegateRequest } from '../client/send/control-run.ts';
import type { Session } from '../client/server/session.ts';

/** Each attempt delegates what is open now, and then throws: the server retries it until the delegation ends. */
export type DelegateOpen = (input: unknown) => Promise<void>;

const lookEveryMs = 60_000;
/** The interval of heartbeats. By their answers the activity learns that the delegation was stopped. */
const beatMs = 5_000;
/** The time that one attempt may spend on messages to one run, because a slow run delays all others. */
const longestMs = 30_000;

/**
 * Returns the activity `countersign.delegateOpen`, which delegates the open requests of one person. It checks no
 * rights, because its starter could also send these unsigned messages directly, and the request's run checks them.
 */
export function createDelegateOpen(session: () => Session): DelegateOpen {
  return async (input) => {
    const context = Context.current();
    const { workflowExecution, heartbeatDetails, scheduledTimestampMs } = context.info;
    const standing = readOwn(input, workflowExecution?.workflowId ?? '', scheduledTimestampMs);
    const untilMs = Date.parse(standing.untilAt);
    if (Date.now() >= untilMs) return;
    const progress = readProgress(heartbeatDetails);
    const beat = (): void => context.heartbeat(progress);
    beat();
    const beats = setInterval(beat, beatMs);
    try {
      await delegateNew(session(), standing, progress, {
        idOf: (requestId) => `standing:${workflowExecution?.runId ?? ''}:${requestId}`,
        noted: () => {
          beat();
          context.cancellationSignal.throwIfAborted();
        },
      });
    } finally {
      clearInterval(beats);
    }
    // This failure makes the server start the next attempt in a minute, or when the delegation ends.
    throw ApplicationFailure.create({
      type: 'looks_again',
      message: `Until ${standing.untilAt}, it looks again in a minute.`,
      category: ApplicationFailureCategory.BENIGN,
      // The delegation may have ended during this attempt, and a delay cannot be negative.
      nextRetryDelay: Math.max(1, Math.min(lookEveryMs, untilMs - Date.now())),
    });
  };
}

/** Reads the delegation that this workflow carries out. Throws unless the workflow has the id of the person `by`. */
function readOwn(input: unknown, workflowId: string, startedMs: number): StandingInput {
  try {
    const standing = readStanding(input, startedMs);
    if (standingDelegationId(standing.by) === workflowId) return standing;
  } catch (error) {
    if (!isProblemError(error)) throw error;
    throw ApplicationFailure.nonRetryable(error.message, error.code);
  }
  throw ApplicationFailure.nonRetryable(`this workflow has not the id of the person who delegates`, 'invalid_message');
}

/**
 * Delegates the open requests of a person that were not tried before. Changes `progress`, and calls `noted` after each
 * change. A slow run, or one with a problem that may pass, is left to the next attempt, so that it delays no other run.
 */
export async function delegateNew(
  session: Session,
  { by, to, reason }: Pick<StandingInput, 'by' | 'to' | 'reason'>,
  progress: StandingProgress,
  { idOf, noted }: { idOf: (requestId: string) => string; noted: () => void },
): Promise<void> {
  const tried = new Set(progress.tried);
  const open = new Set<string>();
  const spentMs = new Map<string, number>();
  for await (const { requests, openKeys } of openRequestsOf(session, by, (key) => tried.has(key))) {
    for (const key of openKeys) open.add(key);
    for (const request of requests) {
      const { requestId, workflowId } = request;
      const spent = spentMs.get(workflowId) ?? 0;
      if (spent > longestMs) continue;
      // The message has the same id in each attempt, so that the run does not apply it twice.
      const message = { requestId, by, to, messageId: idOf(requestId), ...(reason !== undefined && { reason }) };
      const sentAtMs = Date.now();
      const receipt = await delegateOne(request, message, (each) => delegateRequest(session, each, { workflowId }));
      noted();
      if (receipt === undefined) continue;
      const mayPass = isTransient(receipt.code);
      // After a problem that may pass, this attempt sends the run nothing more.
      spentMs.set(workflowId, mayPass ? Infinity : spent + Date.now() - sentAtMs);
      if (mayPass) continue;
      const key = requestKey(workflowId, requestId);
      tried.add(key);
      open.add(key);
      noteTried(progress, request, receipt);
      noted();
    }
    noted();
  }
  // Both lists have a limit, so forget the requests that are no longer open.
  progress.tried = progress.tried.filter((key) => open.has(key));
  progress.left = progress.left.filter(({ workflowId, requestId }) => open.has(requestKey(workflowId, requestId)));
  noted();
}

/** Notes that a request was tried, and counts it as delegated or lists it with the reason why it stays. */
function noteTried(
  progress: StandingProgress,
  { requestId, workflowId }: { requestId: string; workflowId: string },
  receipt: { code?: string; message: unknown },
): void {
  progress.tried = [...progress.tried, requestKey(workflowId, requestId)].slice(-mostTried);
  if (receipt.code === undefined) {
    progress.delegated++;
    return;
  }
  // A receipt may come from any workflow, so its message may be something else than a text.
  const message = typeof receipt.message === 'string' ? receipt.message.slice(0, longestLeft) : '';
  progress.left = [...progress.left, { requestId, workflowId, message }].slice(-mostLeft);
}
