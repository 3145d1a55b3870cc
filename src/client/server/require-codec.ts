import { ProblemError } from '../../core/base/problem.ts';
import { readingRemedy } from '../../connection/server-error.ts';
import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';
import { describeRun, memoRows } from './memo-rows.ts';

/**
 * Throws `undecodable` if this client has codecs and they cannot read the memo of a run. What they encode could then not
 * be read by the run's workers, and a worker that lacks a key retries until it has it: one message could stop the run.
 */
export async function requireCodec(session: Session, workflowId: string): Promise<void> {
  if (!session.hasCodecs) return;
  const run = await callServer(session, () => describeRun(session, workflowId), { workflowId });
  const { unread } = memoRows(run);
  if (unread === undefined) return;
  throw new ProblemError({
    code: 'undecodable',
    message: `Nothing is sent to run '${workflowId}', because its memo cannot be read: ${unread}. ${readingRemedy}`,
  });
}
