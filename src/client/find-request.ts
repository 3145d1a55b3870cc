import { ProblemError } from '../core/problem.ts';
import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';
import { lookUp } from './look-up.ts';

const requestIdShape = /^[0-9a-f]{32}$/;

/**
 * The workflow id of the run that asks, or asked, `requestId`: open requests first, then the lately settled.
 * Throws `unknown_request` after 3 seconds, since visibility lags behind the runs; at once for what cannot be an id.
 */
export async function findRequest(session: Session, requestId: string): Promise<string> {
  const malformed = malformedRequestId(requestId);
  if (malformed !== undefined) throw malformed;
  const { ids, tags } = session.attributes;
  const workflowId = await lookUp(
    async () =>
      (await firstRun(session, `${ids} = "${requestId}" AND ExecutionStatus = "Running"`)) ??
      (await firstRun(session, `${ids} = "${requestId}"`)) ??
      (tags === null ? undefined : await firstRun(session, `${tags} = "settled:${requestId}"`)),
  );
  if (workflowId !== undefined) return workflowId;
  throw new ProblemError({
    code: 'unknown_request',
    message: `No run has a request ${requestId}: \`countersign approvals\` lists the open ones.`,
  });
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
