import { WorkflowFailedError } from '@temporalio/client';
import { ActivityFailure, ApplicationFailure, CancelledFailure, TerminatedFailure } from '@temporalio/common';
import type { RunResult } from '../contract.ts';
import { ProblemError, isProblemCode } from '../core/base/problem.ts';
import { isUndecodable } from '../core/base/undecodable.ts';
import type { Session } from './connect.ts';
import { translateServerError, unreadAnswer } from '../connection/server-error.ts';

/**
 * Waits for a run to end and returns its result; a run that has ended needs no worker. Throws the run's code and
 * sentence (`internal` if it has none of our codes), `run_not_found`, the reason of an aborted `signal`, and
 * `server_unreachable` if the server is away for longer than its retries; the run continues then, so ask again.
 */
export async function runResult(
  session: Session,
  workflowId: string,
  options: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<RunResult> {
  const { timeoutMs, signal } = options;
  const limits = [
    ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)]),
    ...(signal === undefined ? [] : [signal]),
  ];
  try {
    const result = await session.connection.withAbortSignal(AbortSignal.any(limits), () =>
      session.client.workflow.getHandle(workflowId).result(),
    );
    if (isUndecodable(result) && result.unread) throw unreadAnswer(workflowId, result.why);
    if (isUndecodable(result) || typeof result !== 'object' || result === null) {
      throw new ProblemError({ code: 'undecodable', message: `The result of run '${workflowId}' cannot be read.` });
    }
    return result as RunResult;
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    if (!(error instanceof WorkflowFailedError)) {
      throw translateServerError(error, { address: session.address, namespace: session.namespace, workflowId });
    }
    const cause = rootOf(error);
    if (cause instanceof CancelledFailure) {
      return { status: 'cancelled', output: '', usage: { inputTokens: 0, outputTokens: 0 }, outcomes: [] };
    }
    const code = cause instanceof ApplicationFailure && isProblemCode(cause.type) ? cause.type : 'internal';
    const how = cause instanceof TerminatedFailure ? 'was terminated' : 'failed';
    const why = cause?.message ?? error.message;
    throw new ProblemError({ code, message: `Run '${workflowId}' ${how}: ${why}` }, { cause: error });
  }
}

/** The error that made the run fail. For a failed activity it is the activity's own failure, which has the sentence. */
function rootOf({ cause }: WorkflowFailedError): Error | undefined {
  return cause instanceof ActivityFailure && cause.cause instanceof Error ? cause.cause : cause;
}
