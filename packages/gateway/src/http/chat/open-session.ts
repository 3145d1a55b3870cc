import { callServer } from 'countersign/adapter';
import { type ChatThread, workflowOf } from './chat-thread.ts';

/** How many sessions of a thread may have ended and been removed before the open one. */
const mostRemoved = 100;

/**
 * The number of the open session of a thread whose first one does not exist: retention has removed it, or none has begun.
 * Reads visibility, which lags by up to seconds.
 */
export async function openSession(thread: ChatThread): Promise<number | undefined> {
  const { session } = thread.client;
  const sessions = new Map(Array.from({ length: mostRemoved }, (_, at) => [workflowOf(thread, at + 1), at + 1]));
  const ids = [...sessions.keys()].map((workflowId) => `"${workflowId}"`).join(', ');
  const { executions } = await callServer(session, () =>
    session.connection.workflowService.listWorkflowExecutions({
      namespace: session.namespace,
      query: `ExecutionStatus = "Running" AND WorkflowId IN (${ids})`,
      pageSize: 1,
    }),
  );
  return sessions.get(executions[0]?.execution?.workflowId ?? '');
}
