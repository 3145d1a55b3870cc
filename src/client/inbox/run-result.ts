import { WorkflowFailedError } from '@temporalio/client';
import { ActivityFailure, ApplicationFailure, CancelledFailure, TerminatedFailure } from '@temporalio/common';
import type { RunResult } from '../../contract.ts';
import { ProblemError, problemCodeOf } from '../../core/base/problem.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { type Session, untilAborted } from '../server/session.ts';
import { translateServerError, unreadAnswer } from '../../connection/server-error.ts';

interface ResultOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
}

/**
 * Waits for a run to end; an ended run needs no worker. Throws the failure of the run, `run_not_found`, the reason of
 * an aborted `signal`, and `server_unreachable` if the server stays away. The run then continues: ask again.
 */
export async function runResult(session: Session, workflowId: string, options: ResultOptions = {}): Promise<RunResult> {
  const ending = await endOfWorkflow(session, workflowId, options);
  if ('isCancelled' in ending) {
    return { status: 'cancelled', output: '', usage: { inputTokens: 0, outputTokens: 0 }, outcomes: [] };
  }
  const { returned } = ending;
  if (typeof returned === 'object' && returned !== null) return returned as RunResult;
  throw unreadableResult(workflowId);
}

/** Waits for a workflow of any type to end, with any result. Throws as `runResult` does. */
export async function endOfWorkflow(
  session: Session,
  workflowId: string,
  { timeoutMs, signal }: ResultOptions = {},
): Promise<{ returned: unknown } | { isCancelled: true }> {
  const limits = [
    ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)]),
    ...(signal === undefined ? [] : [signal]),
  ];
  try {
    const returned: unknown = await untilAborted(session, AbortSignal.any(limits), () =>
      session.client.workflow.getHandle(workflowId).result(),
    );
    if (isUndecodable(returned))
      throw returned.unread ? unreadAnswer(workflowId, returned.why) : unreadableResult(workflowId);
    return { returned };
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    if (!(error instanceof WorkflowFailedError)) {
      throw translateServerError(error, { address: session.address, namespace: session.namespace, workflowId });
    }
    const cause = rootOf(error);
    if (cause instanceof CancelledFailure) return { isCancelled: true };
    const code = problemCodeOf(cause instanceof ApplicationFailure ? cause.type : undefined);
    const how = cause instanceof TerminatedFailure ? 'was terminated' : 'failed';
    const why = cause?.message ?? error.message;
    throw new ProblemError({ code, message: `Run '${workflowId}' ${how}: ${why}` }, { cause: error });
  }
}

function unreadableResult(workflowId: string): ProblemError {
  return new ProblemError({ code: 'undecodable', message: `The result of run '${workflowId}' cannot be read.` });
}

/** Returns the error that made the run fail. An `ActivityFailure` only wraps the error that has the message. */
function rootOf({ cause }: WorkflowFailedError): Error | undefined {
  return cause instanceof ActivityFailure && cause.cause instanceof Error ? cause.cause : cause;
}
