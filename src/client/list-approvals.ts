import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { memoName, queryNames } from '../contract.ts';
import type { ApprovalRequest } from '../core/approval.ts';
import { type ApprovalSummary, summaryOf } from '../core/approval-index.ts';
import { callServer } from './call-server.ts';
import type { Session } from './connect.ts';
import { queryRun } from './query-run.ts';

export interface ApprovalFilter {
  tool?: string;
  agent?: string;
  workflowId?: string;
  /** Default 100. */
  limit?: number;
}

/** The inbox, earliest deadline first. `more`: open requests beyond the limit, or not readable without a worker. */
export interface ApprovalList {
  approvals: ApprovalSummary[];
  more: number;
}

/**
 * Lists open requests from visibility: no worker is needed, and runs are not woken. The index lags by up to seconds,
 * so a row may be settled already; the run itself judges a decision. No text of a caller enters the server's query:
 * its quoting finds no id that holds `"` or `\` (tried), and the memo of one run is read by its id, without delay.
 */
export async function listApprovals(session: Session, filter: ApprovalFilter = {}): Promise<ApprovalList> {
  const { workflowId, limit = 100 } = filter;
  const runs = workflowId === undefined ? listRunning(session) : describeOne(session, workflowId);
  const wanted = (row: ApprovalSummary): boolean =>
    (filter.tool === undefined || row.toolName === filter.tool) &&
    (filter.agent === undefined || row.agentName === filter.agent);
  const rows: ApprovalSummary[] = [];
  let unread = 0;
  await callServer(
    session,
    async () => {
      for await (const run of runs) {
        const found = await rowsOf(session, run);
        rows.push(...found.rows.filter(wanted));
        unread += found.unread;
      }
    },
    { timeoutMs: 30_000, ...(workflowId === undefined ? {} : { workflowId }) },
  );
  rows.sort(byDeadline);
  return { approvals: rows.slice(0, limit), more: Math.max(0, rows.length - limit) + unread };
}

type Listed = Pick<WorkflowExecutionInfo, 'memo' | 'workflowId'>;
type RawRun = temporal.api.workflow.v1.IWorkflowExecutionInfo;

/** The rows in a run's memo, checked for what readers of a row rely on; anyone who can start workflows can write one. */
export function memoRows(run: Listed): { rows: ApprovalSummary[]; more: number } {
  const memo = run.memo?.[memoName];
  if (!isRecord(memo) || !Array.isArray(memo['open'])) return { rows: [], more: 0 };
  const rows = memo['open'].filter(isRow).map((row) => ({ ...row, workflowId: run.workflowId }));
  return { rows, more: typeof memo['more'] === 'number' && memo['more'] > 0 ? memo['more'] : 0 };
}

async function rowsOf(session: Session, run: Listed): Promise<{ rows: ApprovalSummary[]; unread: number }> {
  const { rows, more } = memoRows(run);
  if (more === 0) return { rows, unread: 0 };
  try {
    const open = await queryRun<ApprovalRequest[]>(session, run.workflowId, queryNames.approvals, [], 2_000);
    return { rows: open.map(summaryOf), unread: 0 };
  } catch {
    return { rows, unread: more }; // the memo's rows stand, and the count says that there are others
  }
}

/** Raw rows, of which our memo alone is decoded: whatever else a stranger's run carries hides nothing (I5). */
async function* listRunning(session: Session): AsyncGenerator<Listed> {
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
    yield* page.executions.map((run) => listed(session, run));
    nextPageToken = page.nextPageToken;
  } while (nextPageToken.length > 0);
}

async function* describeOne(session: Session, workflowId: string): AsyncGenerator<Listed> {
  const { connection, namespace } = session;
  const execution = { workflowId };
  const { workflowExecutionInfo: run } = await connection.workflowService.describeWorkflowExecution({
    namespace,
    execution,
  });
  if (run != null && Number(run.status) === statusRunning) yield listed(session, run);
}

/** `WORKFLOW_EXECUTION_STATUS_RUNNING` of Temporal's API. */
const statusRunning = 1;

function listed({ client }: Session, { execution, memo }: RawRun): Listed {
  const { payloadConverter } = client.options.loadedDataConverter;
  const payload = memo?.fields?.[memoName];
  const value: unknown = payload == null ? undefined : payloadConverter.fromPayload(payload);
  return { workflowId: execution?.workflowId ?? '', memo: { [memoName]: value } };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isRow(row: unknown): row is ApprovalSummary {
  if (!isRecord(row)) return false;
  const texts = ['requestId', 'toolName', 'agentName', 'riskLevel', 'severity', 'reason', 'requestedAt', 'digest'];
  return (
    texts.every((name) => typeof row[name] === 'string') &&
    ['deadline', 'rule'].every((name) => row[name] === null || typeof row[name] === 'string') &&
    isTexts(row['argumentNames']) &&
    (row['lineage'] === undefined || isTexts(row['lineage']))
  );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

function byDeadline(one: ApprovalSummary, other: ApprovalSummary): number {
  const rank = (row: ApprovalSummary): string => `${row.deadline ?? '~'} ${row.requestedAt} ${row.requestId}`;
  return rank(one) < rank(other) ? -1 : 1;
}
