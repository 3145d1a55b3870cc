import { createHash, randomUUID } from 'node:crypto';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import type { Receipt } from '../../contract.ts';
import { ProblemError, isProblemCode, isProblemError } from '../../core/base/problem.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { askWorker } from '../server/ask-worker.ts';
import { type Session, callServer } from '../server/session.ts';
import { grpcStatus, grpcStatusOf, serverWords, translateServerError } from '../../connection/server-error.ts';

/** A message to a run: the name of its update, which is also the name of its signal, and its one argument. */
export interface UpdateRequest {
  workflowId: string;
  name: string;
  payload: unknown;
  /** True if the run must process the message again, even if it has answered it before. */
  isAgain?: boolean;
}

/** The update got no answer, but a signal may still reach the run. `reason` completes "not yet applied: …". */
export interface Unanswered {
  reason: string;
  /** True if the run would not answer a query either. */
  silent: boolean;
}

/**
 * Statuses of failed updates after which a signal may still reach the run: no worker answered, the server's limit on
 * updates was reached, or the run continued as new.
 */
const worthRecording: (number | undefined)[] = [
  grpcStatus.DEADLINE_EXCEEDED,
  grpcStatus.CANCELLED,
  grpcStatus.UNAVAILABLE,
  grpcStatus.FAILED_PRECONDITION,
  grpcStatus.RESOURCE_EXHAUSTED,
  grpcStatus.NOT_FOUND,
];

/**
 * The run has answered, and this client cannot decode the answer. The run has accepted the message: a refusal would
 * have been thrown.
 */
export interface UnreadReply {
  unread: string;
}

/** Sends a message by update and waits at most `timeoutMs` for the run's answer. Throws the run's refusal. */
export async function sendByUpdate(
  session: Session,
  { workflowId, name, payload, isAgain = false }: UpdateRequest,
  timeoutMs: number,
): Promise<{ answer: Receipt | Receipt[] } | UnreadReply | Unanswered> {
  try {
    const answer = await askWorker(session, workflowId, timeoutMs, () =>
      session.client.workflow.getHandle(workflowId).executeUpdate<Receipt | Receipt[], [unknown]>(name, {
        updateId: isAgain ? `${updateIdOf(name, payload)}-${randomUUID()}` : updateIdOf(name, payload),
        args: [payload],
      }),
    );
    if (isUndecodable(answer) && answer.unread) return { unread: answer.why };
    const parts: unknown[] = Array.isArray(answer) ? answer : [answer];
    if (parts.some((part) => isUndecodable(part) || typeof part !== 'object' || part === null)) {
      throw unreadable(workflowId);
    }
    return { answer };
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) {
      if (isUnprocessed(error)) return { reason: 'the worker ended its task without the message', silent: false };
      const receipts = receiptsIn(error, Array.isArray(payload) ? payload.length : 1);
      if (receipts === undefined) throw refusedByRun(workflowId, error);
      return { answer: receipts };
    }
    if (isProblemError(error) && error.code === 'no_worker')
      return { reason: withoutStop(error.message), silent: true };
    if (!isProblemError(error) && worthRecording.includes(grpcStatusOf(error))) {
      return { reason: serverWords(error), silent: false };
    }
    throw translateServerError(error, { address: session.address, namespace: session.namespace, workflowId });
  }
}

/** The error if the run's answer is no receipt. */
export function unreadable(workflowId: string): ProblemError {
  return new ProblemError({
    code: 'internal',
    message: `Run '${workflowId}' answered with a receipt that cannot be read.`,
  });
}

/**
 * The id of an update: a digest of the whole content, not only of the message's own id. For a known update id, the
 * server returns the old result and does not call the run. A changed message under an old id needs another update id,
 * so that the run receives and refuses it.
 */
function updateIdOf(name: string, payload: unknown): string {
  const content = JSON.stringify(payload, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
  return `${name}-${createHash('sha256').update(content).digest('hex')}`;
}

/**
 * True if the server itself refused the update: a worker completed the task with the update while it was shutting down,
 * and the run never received the message.
 */
export function isUnprocessed({ cause }: WorkflowUpdateFailedError): boolean {
  return cause instanceof ApplicationFailure && cause.type === 'UnprocessedUpdate';
}

/**
 * The receipts of messages that were all refused. They contain more than the failure, such as the reviewer who settled
 * a request.
 */
function receiptsIn({ cause }: WorkflowUpdateFailedError, count: number): Receipt[] | undefined {
  const details: unknown[] = (cause instanceof ApplicationFailure && cause.details) || [];
  const isWhole = details.length === count && details.every((each) => isProblemCode((each as Receipt | null)?.code));
  return isWhole ? (details as Receipt[]) : undefined;
}

function refusedByRun(workflowId: string, error: WorkflowUpdateFailedError): ProblemError {
  const { cause } = error;
  if (cause instanceof ApplicationFailure && isProblemCode(cause.type)) {
    return new ProblemError({ code: cause.type, message: cause.message }, { cause: error });
  }
  return new ProblemError(
    { code: 'internal', message: `Run '${workflowId}' refused the message: ${cause?.message ?? error.message}` },
    { cause: error },
  );
}

/** The sentence without its full stop. */
function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

/**
 * Writes a message into a run's history, where it waits for a worker. Returns false if the run is closed.
 * Throws `run_not_found`, `server_unreachable`.
 */
export async function recordBySignal(session: Session, { workflowId, name, payload }: UpdateRequest): Promise<boolean> {
  const handle = session.client.workflow.getHandle(workflowId);
  return callServer(
    session,
    async () => {
      try {
        await handle.signal(name, payload);
        return true;
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
        await handle.describe();
        return false;
      }
    },
    { workflowId },
  );
}
