import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';
import { listedExecutions } from './listed-executions.ts';

/** What to export: a run by its workflow id, or all runs that a visibility query finds. */
export type AuditScope = { workflowId: string } | { query: string };

/** A run, by its newest execution. */
export interface FoundRun {
  workflowId: string;
  /** Temporal's run id of that execution. */
  runId: string;
}

/** `WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW` of Temporal's API. */
const continuedAsNew = 6;

/** Finds the runs of an export. Executions that continued as new belong to the run of the last one. */
export async function findRuns(session: Session, scope: AuditScope): Promise<FoundRun[]> {
  if ('workflowId' in scope) return [await newestOf(session, scope.workflowId)];
  const found: FoundRun[] = [];
  for await (const page of listedExecutions(session, { query: scope.query, timeoutMs: 30_000 })) {
    for (const { execution, status } of page) {
      if (Number(status) === continuedAsNew) continue;
      found.push({ workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' });
    }
  }
  // Visibility lists the newest first.
  return found.toReversed();
}

async function newestOf(session: Session, workflowId: string): Promise<FoundRun> {
  const { runId } = await callServer(session, () => session.client.workflow.getHandle(workflowId).describe(), {
    workflowId,
  });
  return { workflowId, runId };
}

/** Changes whenever the history of an execution grows. */
export async function growthOf(session: Session, { workflowId, runId }: FoundRun): Promise<string> {
  const { status, historyLength } = await callServer(
    session,
    () => session.client.workflow.getHandle(workflowId, runId).describe(),
    { workflowId },
  );
  return `${status.name} ${historyLength}`;
}
