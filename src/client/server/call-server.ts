import type { Session } from './connect.ts';
import { translateServerError } from '../../connection/server-error.ts';

/** The time limit of one call to the server, including its retries, in milliseconds. */
const defaultTimeoutMs = 10_000;

/** Calls the server within a time limit. Throws every error as a `ProblemError` with one sentence. */
export async function callServer<Answer>(
  session: Session,
  call: () => Promise<Answer>,
  options: { workflowId?: string; timeoutMs?: number } = {},
): Promise<Answer> {
  try {
    return await session.connection.withDeadline(Date.now() + (options.timeoutMs ?? defaultTimeoutMs), call);
  } catch (error) {
    throw translateServerError(error, {
      address: session.address,
      namespace: session.namespace,
      workflowId: options.workflowId,
    });
  }
}
