import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { memoName } from '../contract.ts';
import type { ApprovalSummary } from '../core/ledger/approval-index.ts';
import type { Session } from './connect.ts';

/** A workflow and its memo. Only the workflow and its starter wrote the memo, so do not trust it. */
export type WithMemo = Pick<WorkflowExecutionInfo, 'memo' | 'workflowId'>;

/**
 * The open requests in a run's memo. The fields that readers use are checked: anyone who can start workflows can write
 * a memo. A row that names another workflow was copied and is left out. `more`: the number of rows that did not fit.
 */
export function memoRows({ memo, workflowId }: WithMemo): { rows: ApprovalSummary[]; more: number } {
  const approvals = memo?.[memoName];
  if (!isRecord(approvals) || !Array.isArray(approvals['open'])) return { rows: [], more: 0 };
  const { open, more } = approvals;
  return {
    rows: open.filter(isRow).filter((row) => row.workflowId === workflowId),
    more: typeof more === 'number' && more > 0 ? more : 0,
  };
}

/** A raw row of which only our memo is decoded, so that other data in a stranger's run cannot hide anything (I5). */
export function withMemo(
  { client }: Session,
  { execution, memo }: temporal.api.workflow.v1.IWorkflowExecutionInfo,
): WithMemo {
  const { payloadConverter } = client.options.loadedDataConverter;
  const payload = memo?.fields?.[memoName];
  const value: unknown = payload == null ? undefined : payloadConverter.fromPayload(payload);
  return { workflowId: execution?.workflowId ?? '', memo: { [memoName]: value } };
}

/** One run as the server knows it, without the delay of visibility. Throws the server's errors unchanged. */
export async function describeRun(session: Session, workflowId: string): Promise<WithMemo & { isRunning: boolean }> {
  const { connection, namespace } = session;
  const answer = await connection.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });
  const run = answer.workflowExecutionInfo ?? {};
  return { ...withMemo(session, run), isRunning: Number(run.status) === statusRunning };
}

/** `WORKFLOW_EXECUTION_STATUS_RUNNING` of Temporal's API. */
export const statusRunning = 1;

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
