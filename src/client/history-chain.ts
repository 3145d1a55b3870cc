import type { temporal } from '@temporalio/proto';
import { grpcStatus, grpcStatusOf } from '../connection/server-error.ts';
import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';

/** The history of one execution of a run, from its start to its end or continue-as-new, as Temporal keeps it. */
export interface HistoryExecution {
  workflowId: string;
  /** Temporal's run id of this execution. */
  runId: string;
  events: temporal.api.history.v1.IHistoryEvent[];
}

/** The histories of all executions of a run. */
export interface HistoryChain {
  /** The executions, oldest first; payloads are not decoded. */
  executions: HistoryExecution[];
  /** Temporal's run id of the newest execution that retention has removed; the executions before it are gone too. */
  missing?: string;
}

/**
 * Fetches the histories of all executions of a run, from the newest back to the first. `last`: Temporal's run id of its
 * last execution; default: the newest one under this workflow id.
 */
export async function fetchHistoryChain(session: Session, workflowId: string, last?: string): Promise<HistoryChain> {
  const executions: HistoryExecution[] = [];
  let runId = last;
  do {
    const execution: HistoryExecution | undefined = await fetchExecution(session, workflowId, {
      runId,
      isOlder: executions.length > 0,
    });
    if (execution === undefined) return { executions, missing: runId as string };
    executions.unshift(execution);
    runId = execution.events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
  } while (runId !== undefined && runId !== '');
  return { executions };
}

/** Undefined if an older execution is gone; a missing newest execution throws `run_not_found`. */
async function fetchExecution(
  session: Session,
  workflowId: string,
  { runId, isOlder }: { runId: string | undefined; isOlder: boolean },
): Promise<HistoryExecution | undefined> {
  return callServer(
    session,
    async () => {
      const { client } = session;
      const newest = runId ?? (await client.workflow.getHandle(workflowId).describe()).runId;
      try {
        const history = await client.workflow.getHandle(workflowId, newest).fetchHistory();
        return { workflowId, runId: newest, events: history.events ?? [] };
      } catch (error) {
        if (isOlder && grpcStatusOf(error) === grpcStatus.NOT_FOUND) return undefined;
        throw error;
      }
    },
    { workflowId, timeoutMs: 60_000 },
  );
}
