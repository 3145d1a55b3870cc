import { type Caller, workflowType } from '../contract.ts';
import { isObject } from '../core/base/is-object.ts';
import { ProblemError } from '../core/base/problem.ts';
import { isUndecodable } from '../core/base/undecodable.ts';
import { readingRemedy } from '../connection/server-error.ts';
import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';
import { readPayload } from './read-payload.ts';

/** What whoever started a run says of its user. */
export interface SessionOfRun {
  /** True: the run takes further messages of its user. */
  isSession: boolean;
  /** For whom it works. Absent: nobody is named. */
  callerUserId?: string;
}

/**
 * Reads the input of a run's present execution; its worker is not needed. A workflow of one's own is no session. Throws
 * `run_not_found`, and `undecodable` if this client cannot read the input.
 */
export async function sessionOf(session: Session, workflowId: string): Promise<SessionOfRun> {
  const { connection, namespace } = session;
  const { history } = await callServer(
    session,
    () =>
      connection.workflowService.getWorkflowExecutionHistory({
        namespace,
        execution: { workflowId },
        maximumPageSize: 1,
      }),
    { workflowId },
  );
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  const payload = started?.input?.payloads?.[0];
  if (started?.workflowType?.name !== workflowType || payload == null) return { isSession: false };
  const input = await readPayload(session, payload);
  if (isUndecodable(input) && input.unread) {
    const message = `The input of run '${workflowId}' cannot be read: ${input.why}. ${readingRemedy}`;
    throw new ProblemError({ code: 'undecodable', message });
  }
  const { session: isSession, caller } = (isObject(input) ? input : {}) as { session?: unknown; caller?: unknown };
  const { userId } = (isObject(caller) ? caller : {}) as Partial<Caller>;
  return { isSession: isSession === true, ...(typeof userId === 'string' && { callerUserId: userId }) };
}
