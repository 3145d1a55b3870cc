import { setTimeout as sleep } from 'node:timers/promises';
import { ProblemError } from '../core/problem.ts';
import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';

const requestIdShape = /^[0-9a-f]{32}$/;
/** Visibility lags behind the runs, so an id is looked up for this long before it is unknown. Milliseconds. */
const lookUpMs = 3_000;

/**
 * The workflow id of the run that asks, or asked, `requestId`: open requests first, then the lately settled.
 * Throws `unknown_request` after 3 seconds, at once for what cannot be an id.
 */
export async function findRequest(session: Session, requestId: string): Promise<string> {
  const malformed = malformedRequestId(requestId);
  if (malformed !== undefined) throw malformed;
  const until = Date.now() + lookUpMs;
  for (;;) {
    const workflowId =
      (await firstRun(session, `ApprovalIds = "${requestId}" AND ExecutionStatus = "Running"`)) ??
      (await firstRun(session, `ApprovalIds = "${requestId}"`)) ??
      (await firstRun(session, `ApprovalTags = "settled:${requestId}"`));
    if (workflowId !== undefined) return workflowId;
    if (Date.now() >= until) {
      throw new ProblemError({
        code: 'unknown_request',
        message: `No run has a request ${requestId}: \`countersign approvals\` lists the open ones.`,
      });
    }
    await sleep(200);
  }
}

/** The problem of a text that no request can have as its id. */
export function malformedRequestId(requestId: string): ProblemError | undefined {
  if (requestIdShape.test(requestId)) return undefined;
  return new ProblemError({
    code: 'unknown_request',
    message: `'${requestId.slice(0, 80)}' is not a request id: it has 32 hex characters, as \`countersign approvals\` shows them.`,
  });
}

async function firstRun(session: Session, query: string): Promise<string | undefined> {
  const answer = await callServer(session, () =>
    session.connection.workflowService.listWorkflowExecutions({ namespace: session.namespace, pageSize: 1, query }),
  );
  return answer.executions[0]?.execution?.workflowId ?? undefined;
}
