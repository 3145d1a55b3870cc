import { ProblemError } from '../core/base/problem.ts';
import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';

/** Asks a run to stop. Throws `run_not_found`, and `run_closed`, where the server itself would report success. */
export async function cancelRun(session: Session, workflowId: string): Promise<void> {
  const handle = session.client.workflow.getHandle(workflowId);
  await callServer(
    session,
    async () => {
      const { status } = await handle.describe();
      if (status.name !== 'RUNNING') {
        throw new ProblemError({
          code: 'run_closed',
          message: `Run '${workflowId}' is closed already.`,
        });
      }
      await handle.cancel();
    },
    { workflowId },
  );
}
