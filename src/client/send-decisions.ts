import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import { type Receipt, decideName } from '../contract.ts';
import type { ParsedDecision } from '../core/decision.ts';
import { ProblemError, isProblemCode, isProblemError } from '../core/problem.ts';
import { isUndecodable } from '../core/undecodable.ts';
import { askWorker } from './ask-worker.ts';
import type { Session } from './connect.ts';
import { grpcStatus, grpcStatusOf, serverWords, translateServerError } from './server-error.ts';

/** The update gave no answer, and a signal may still reach the run; `reason` completes "not yet applied: …". */
export interface Unanswered {
  reason: string;
  /** True where nothing would answer a look at the request either. */
  silent: boolean;
}

/** Statuses after which the run may be there all the same: no worker took it, a limit of updates, a rollover. */
const worthRecording: (number | undefined)[] = [
  grpcStatus.DEADLINE_EXCEEDED,
  grpcStatus.CANCELLED,
  grpcStatus.UNAVAILABLE,
  grpcStatus.FAILED_PRECONDITION,
  grpcStatus.RESOURCE_EXHAUSTED,
  grpcStatus.NOT_FOUND,
];

/** Sends decisions of one run by update `decide`: one decision alone, several as an array. Throws what the run refuses. */
export async function sendByUpdate(
  session: Session,
  workflowId: string,
  decisions: ParsedDecision[],
  updateId: string,
  timeoutMs: number,
): Promise<{ receipts: Receipt[] } | Unanswered> {
  try {
    const answer = await askWorker(session, workflowId, timeoutMs, () =>
      session.client.workflow.getHandle(workflowId).executeUpdate<Receipt | Receipt[], [unknown]>(decideName, {
        updateId,
        args: [decisions.length === 1 ? decisions[0] : decisions],
      }),
    );
    const receipts = Array.isArray(answer) ? answer : [answer];
    if (receipts.length !== decisions.length || receipts.some((receipt) => isUndecodable(receipt))) {
      throw new ProblemError({
        code: 'internal',
        message: `Run '${workflowId}' answered with receipts that cannot be read.`,
      });
    }
    return { receipts };
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw refusedByRun(workflowId, error);
    if (isProblemError(error) && error.code === 'no_worker')
      return { reason: withoutStop(error.message), silent: true };
    if (!isProblemError(error) && worthRecording.includes(grpcStatusOf(error))) {
      return { reason: serverWords(error), silent: false };
    }
    throw translateServerError(error, { address: session.address, namespace: session.namespace, workflowId });
  }
}

/** True where the error says that no run under this id is open. */
export function isClosedOrMissing(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError;
}

function refusedByRun(workflowId: string, error: WorkflowUpdateFailedError): ProblemError {
  const { cause } = error;
  if (cause instanceof ApplicationFailure && isProblemCode(cause.type)) {
    return new ProblemError({ code: cause.type, message: cause.message }, { cause: error });
  }
  return new ProblemError(
    { code: 'internal', message: `Run '${workflowId}' refused the decision: ${cause?.message ?? error.message}` },
    { cause: error },
  );
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}
