import type { temporal } from '@temporalio/proto';
import { grpcStatus, grpcStatusOf } from '../connection/server-error.ts';
import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';

/** One link of a run: the events between its start and its end or continue-as-new, as Temporal keeps them. */
export interface HistoryLink {
  workflowId: string;
  /** Temporal's run id of this link. */
  runId: string;
  events: temporal.api.history.v1.IHistoryEvent[];
}

export interface HistoryChain {
  /** Oldest first; payloads are not decoded. */
  links: HistoryLink[];
  /** Temporal's run id of the newest link that retention has removed; links before it are gone too. */
  missing?: string;
}

/** Fetches the histories of a run's whole chain of continue-as-new, from its newest link back to its first. */
export async function fetchHistoryChain(session: Session, workflowId: string): Promise<HistoryChain> {
  const links: HistoryLink[] = [];
  let runId: string | undefined;
  do {
    const link: HistoryLink | undefined = await fetchLink(session, workflowId, runId);
    if (link === undefined) return { links, missing: runId as string };
    links.unshift(link);
    runId = link.events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
  } while (runId !== undefined && runId !== '');
  return { links };
}

/** Undefined where an older link is gone; a missing newest link throws `run_not_found`. */
async function fetchLink(
  session: Session,
  workflowId: string,
  runId: string | undefined,
): Promise<HistoryLink | undefined> {
  return callServer(
    session,
    async () => {
      const { client } = session;
      const newest = runId ?? (await client.workflow.getHandle(workflowId).describe()).runId;
      try {
        const history = await client.workflow.getHandle(workflowId, newest).fetchHistory();
        return { workflowId, runId: newest, events: history.events ?? [] };
      } catch (error) {
        if (runId !== undefined && grpcStatusOf(error) === grpcStatus.NOT_FOUND) return undefined;
        throw error;
      }
    },
    { workflowId, timeoutMs: 60_000 },
  );
}
