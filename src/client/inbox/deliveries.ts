import { channelsWorkflowId, channelsWorkflowType, type Delivered, deliveriesName } from '../../contract.ts';
import type { ApprovalSummary } from '../../core/ledger/approval-index.ts';
import { undeliveredTag } from '../../core/ledger/waiting-for.ts';
import { isProblemError } from '../../core/base/problem.ts';
import { callServer, type Session } from '../server/session.ts';
import { undeliveredIn } from '../server/memo-rows.ts';
import { queryRun } from '../server/ask-worker.ts';

const largestPage = 1_000;
const timeoutMs = 30_000;

/** Asks the workflow of a run's channels for the deliveries of open requests. Returns why, if they are unknown. */
export async function deliveriesOf(
  session: Session,
  workflowId: string,
  timeoutMs?: number,
): Promise<{ deliveries?: Delivered[]; deliveriesNote?: string }> {
  try {
    const id = channelsWorkflowId(workflowId);
    const deliveries = await queryRun<Delivered[]>(session, id, deliveriesName, [], timeoutMs);
    return deliveries.length > 0 ? { deliveries } : {};
  } catch (error) {
    if (!isProblemError(error)) throw error;
    // A run without channels has no such workflow.
    return error.code === 'run_not_found' ? {} : { deliveriesNote: error.message };
  }
}

/** Marks the rows of requests that no channel could deliver yet. Marks none if `undelivered` is empty. */
export async function markUndelivered(
  rows: ApprovalSummary[],
  undelivered: Promise<ReadonlySet<string>>,
): Promise<ApprovalSummary[]> {
  const known = await undelivered;
  if (known.size === 0) return rows;
  return rows.map((row) =>
    known.has(deliveryKey(channelsWorkflowId(row.workflowId), row.requestId)) ? { ...row, undelivered: true } : row,
  );
}

/** Finds requests that no channel could deliver, by one query for the workflows of channels. Never rejects. */
export async function undeliveredRequests(session: Session): Promise<ReadonlySet<string>> {
  const { connection, namespace, attributes } = session;
  if (attributes.tags === null) return new Set();
  const query = `${attributes.tags} = "${undeliveredTag}" AND WorkflowType = "${channelsWorkflowType}" AND ExecutionStatus = "Running"`;
  try {
    const { executions } = await callServer(
      session,
      () => connection.workflowService.listWorkflowExecutions({ namespace, query, pageSize: largestPage }),
      { timeoutMs },
    );
    // Any workflow can have such a tag. So the key has the workflow's id, to compare with that of the run's channels.
    const keys = executions.flatMap((row) =>
      undeliveredIn(session, row).map((requestId) => deliveryKey(row.execution?.workflowId ?? '', requestId)),
    );
    return new Set(keys);
  } catch {
    return new Set();
  }
}

function deliveryKey(channelsId: string, requestId: string): string {
  return `${requestId} ${channelsId}`;
}
