import { callServer, type Session } from '../server/session.ts';
import { type DescribedRun, type WithMemo, indexedIds, withMemos } from '../server/memo-rows.ts';
import { plainPayloadConverter } from '../../codec/plain-payload-converter.ts';

/** A run with open requests, as the server's visibility lists it. */
export type WaitingRun = WithMemo &
  Pick<DescribedRun, 'openIds'> & {
    /** The earliest deadline of the run's requests; null if none has a deadline. */
    dueMs: number | null;
  };

export interface WaitingRunPage {
  runs: WaitingRun[];
  /** The token of the next page. Empty if there is none. */
  nextPageToken: Uint8Array;
}

export const largestPage = 1_000;
const timeoutMs = 30_000;

/** Returns a page of the running workflows with open requests. `where` must not contain a text that a caller gave. */
export async function waitingRuns(
  session: Session,
  { where = '', pageSize, token }: { where?: string; pageSize: number; token?: Uint8Array },
): Promise<WaitingRunPage> {
  const { connection, namespace } = session;
  const query = queryFor(session, where);
  return callServer(
    session,
    async () => {
      const page = await connection.workflowService.listWorkflowExecutions({
        namespace,
        query,
        pageSize: Math.min(Math.max(pageSize, 1), largestPage),
        nextPageToken: token,
      });
      const read = await withMemos(session, page.executions);
      const runs = page.executions.map((row, index) => ({
        ...read[index]!,
        openIds: indexedIds(session, row),
        dueMs: dueOf(session, row),
      }));
      return { runs, nextPageToken: page.nextPageToken };
    },
    { timeoutMs },
  );
}

/** Returns all running workflows with open requests for which `where` is true, page by page. */
export async function allWaitingRuns(session: Session, where?: string): Promise<WaitingRun[]> {
  const all: WaitingRun[] = [];
  let token: Uint8Array | undefined;
  do {
    const page = await waitingRuns(session, { where, pageSize: largestPage, token });
    all.push(...page.runs);
    token = page.nextPageToken;
  } while (token.length > 0);
  return all;
}

export async function countWaitingRuns(session: Session, where: string): Promise<number> {
  const { connection, namespace } = session;
  const query = queryFor(session, where);
  const { count } = await callServer(
    session,
    () => connection.workflowService.countWorkflowExecutions({ namespace, query }),
    { timeoutMs },
  );
  return Number(count);
}

function queryFor({ attributes }: Session, where: string): string {
  return `${attributes.ids} IS NOT NULL AND ExecutionStatus = "Running"${where === '' ? '' : ` AND ${where}`}`;
}

function dueOf({ attributes }: Session, { searchAttributes }: Parameters<typeof indexedIds>[1]): number | null {
  const payload = searchAttributes?.indexedFields?.[attributes.due];
  const due: unknown = payload == null ? null : plainPayloadConverter.fromPayload(payload);
  const dueMs = typeof due === 'string' ? Date.parse(due) : NaN;
  return Number.isNaN(dueMs) ? null : dueMs;
}
