import type { temporal } from '@temporalio/proto';
import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';

type Execution = temporal.api.workflow.v1.IWorkflowExecutionInfo;

/** The pages of the executions that a visibility query finds, the newest first. Without a query, all of the namespace. */
export async function* listedExecutions(
  session: Session,
  { query, pageSize = 1_000, timeoutMs }: { query?: string; pageSize?: number; timeoutMs?: number } = {},
): AsyncGenerator<readonly Execution[], void, undefined> {
  const { connection, namespace } = session;
  let nextPageToken: Uint8Array | undefined;
  do {
    const request = { namespace, query, pageSize, nextPageToken };
    const page = await callServer(session, () => connection.workflowService.listWorkflowExecutions(request), {
      timeoutMs,
    });
    yield page.executions;
    nextPageToken = page.nextPageToken;
  } while (nextPageToken.length > 0);
}
