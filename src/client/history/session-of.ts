import type { Caller } from '../../contract.ts';
import { isObject } from '../../core/base/json.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { readingRemedy } from '../../connection/server-error.ts';
import { callServer } from '../server/call-server.ts';
import type { Session } from '../server/connect.ts';
import { inputOf } from './history-chain.ts';

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
  const input = await callServer(session, () => inputOf(session, { workflowId }), { workflowId });
  if (isUndecodable(input) && input.unread) {
    const message = `The input of run '${workflowId}' cannot be read: ${input.why}. ${readingRemedy}`;
    throw new ProblemError({ code: 'undecodable', message });
  }
  const { session: isSession, caller } = isObject(input) ? input : {};
  const { userId } = (isObject(caller) ? caller : {}) as Partial<Caller>;
  return { isSession: isSession === true, ...(typeof userId === 'string' && { callerUserId: userId }) };
}
