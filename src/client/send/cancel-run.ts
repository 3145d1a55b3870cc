import { randomUUID } from 'node:crypto';
import { ProblemError } from '../../core/base/problem.ts';
import { callServer } from '../server/call-server.ts';
import type { Session } from '../server/connect.ts';

/** How to cancel a run. */
export interface CancelOptions {
  /** Kept in the run's history, in the event of the cancellation. At most 1,000 characters. */
  reason?: string;
}

const longestReason = 1_000;

/**
 * Asks a run to stop. Throws `run_not_found`. Throws `run_closed` for a run that has ended; the server itself would
 * report success.
 */
export async function cancelRun(
  session: Session,
  workflowId: string,
  { reason = '' }: CancelOptions = {},
): Promise<void> {
  const { connection, namespace, client } = session;
  if (typeof reason !== 'string') throw new ProblemError({ code: 'invalid_message', message: `'reason' must be text` });
  if (reason.length > longestReason) {
    const message = `'reason' is longer than ${longestReason} characters`;
    throw new ProblemError({ code: 'too_large', message });
  }
  await callServer(
    session,
    async () => {
      const { status, raw } = await client.workflow.getHandle(workflowId).describe();
      if (status.name !== 'RUNNING') {
        throw new ProblemError({
          code: 'run_closed',
          message: `Run '${workflowId}' is closed already.`,
        });
      }
      // Not by the SDK's handle, which takes no reason. A run that has continued as new is cancelled in its newest
      // execution, as by the handle.
      await connection.workflowService.requestCancelWorkflowExecution({
        namespace,
        workflowExecution: { workflowId },
        firstExecutionRunId: raw.workflowExecutionInfo?.firstRunId ?? '',
        requestId: randomUUID(),
        identity: client.options.identity,
        reason,
      });
    },
    { workflowId },
  );
}
