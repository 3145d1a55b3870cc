import { queryNames } from '../contract.ts';
import type { ApprovalRequest } from '../core/ledger/approval.ts';
import { type ApprovalSummary, summaryOf } from '../core/ledger/approval-index.ts';
import { readingRemedy } from '../connection/server-error.ts';
import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';
import { type DescribedRun, type WithMemo, describeRun, indexedIds, memoRows, withMemos } from './memo-rows.ts';
import { queryRun } from './query-run.ts';

/** Which open requests to list. Default: all. */
export interface ApprovalFilter {
  /** The tool's name. */
  tool?: string;
  /** The agent's name. */
  agent?: string;
  /** Only the requests of this run. They are read from the run itself, so without delay. */
  workflowId?: string;
  /** The maximum number of rows. Default 100. */
  limit?: number;
}

/** A run whose open requests this client cannot read, because it lacks a codec of the workers or its key. */
export interface UnreadRun {
  workflowId: string;
  /** The ids of its open requests. */
  requestIds: string[];
  /** Why they cannot be read, and the remedy. */
  message: string;
}

/** The inbox, earliest deadline first. */
export interface ApprovalList {
  approvals: ApprovalSummary[];
  /** The number of open requests beyond the limit, or not readable without a worker. */
  more: number;
  /** Present if further pages follow: the `after` of the next one. */
  next?: string;
  /** The runs whose requests cannot be read here. A filter by tool or agent does not apply to them. */
  unread: UnreadRun[];
}

/**
 * Lists open requests from visibility: this needs no worker and wakes no run. The index lags by up to seconds, so a row
 * may be settled already; the run itself judges a decision. A caller's text never enters the server's query, because
 * quoted ids with `"` or `\` are not found (tried); the memo of one run is read by its id, without delay.
 */
export async function listApprovals(session: Session, filter: ApprovalFilter = {}): Promise<ApprovalList> {
  const { workflowId, limit = 100 } = filter;
  const agent = filter.agent?.normalize('NFC');
  const runs = workflowId === undefined ? listRunning(session) : describeOne(session, workflowId);
  const wanted = (row: ApprovalSummary): boolean =>
    (filter.tool === undefined || row.toolName === filter.tool) && (agent === undefined || row.agentName === agent);
  const rows: ApprovalSummary[] = [];
  const unread: UnreadRun[] = [];
  let missing = 0;
  await callServer(
    session,
    async () => {
      for await (const run of runs) {
        const found = await rowsOf(session, run);
        rows.push(...found.rows.filter(wanted));
        missing += found.missing;
        if (found.unread !== undefined) unread.push(found.unread);
      }
    },
    { timeoutMs: 30_000, workflowId },
  );
  rows.sort(byDeadline);
  return { approvals: rows.slice(0, limit), more: Math.max(0, rows.length - limit) + missing, unread };
}

interface RunRows {
  rows: ApprovalSummary[];
  missing: number;
  unread?: UnreadRun;
}

async function rowsOf(session: Session, run: ListedRun): Promise<RunRows> {
  const { workflowId, openIds } = run;
  const { rows, more, unread } = memoRows(run);
  if (unread !== undefined) {
    const message = `The open requests of run '${workflowId}' cannot be read: ${unread}. ${readingRemedy}`;
    return { rows, missing: 0, unread: { workflowId, requestIds: openIds, message } };
  }
  if (more === 0) return { rows, missing: 0 };
  try {
    const open = await queryRun<ApprovalRequest[]>(session, run.workflowId, queryNames.approvals, [], 2_000);
    // As in a memo, drop rows that name another workflow.
    const own = open.filter(({ workflowId }) => workflowId === run.workflowId);
    return { rows: own.map(summaryOf), missing: 0 };
  } catch {
    return { rows, missing: more }; // keep the memo's rows; the count says that there are others
  }
}

type ListedRun = WithMemo & Pick<DescribedRun, 'openIds'>;

async function* listRunning(session: Session): AsyncGenerator<ListedRun> {
  const { connection, namespace, attributes } = session;
  const query = `${attributes.ids} IS NOT NULL AND ExecutionStatus = "Running"`;
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await connection.workflowService.listWorkflowExecutions({
      namespace,
      query,
      pageSize: 1_000,
      nextPageToken,
    });
    const runs = await withMemos(session, page.executions);
    yield* page.executions.map((row, index) => ({ ...runs[index]!, openIds: indexedIds(session, row) }));
    nextPageToken = page.nextPageToken;
  } while (nextPageToken.length > 0);
}

async function* describeOne(session: Session, workflowId: string): AsyncGenerator<ListedRun> {
  const run = await describeRun(session, workflowId);
  if (run.isRunning) yield run;
}

function byDeadline(one: ApprovalSummary, other: ApprovalSummary): number {
  const rank = (row: ApprovalSummary): string => `${row.deadline ?? '~'} ${row.requestedAt} ${row.requestId}`;
  return rank(one) < rank(other) ? -1 : 1;
}
