import { WorkflowNotFoundError } from '@temporalio/common';
import { callServer } from '../server/call-server.ts';
import type { Session } from '../server/connect.ts';
import type { UpdateRequest } from './send-by-update.ts';

/**
 * Writes a message into a run's history, where it waits for a worker. Returns false if the run is closed.
 * Throws `run_not_found`, `server_unreachable`.
 */
export async function recordBySignal(session: Session, { workflowId, name, payload }: UpdateRequest): Promise<boolean> {
  const handle = session.client.workflow.getHandle(workflowId);
  return callServer(
    session,
    async () => {
      try {
        await handle.signal(name, payload);
        return true;
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
        await handle.describe();
        return false;
      }
    },
    { workflowId },
  );
}
