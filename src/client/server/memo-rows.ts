import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { memoName } from '../../contract.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { settledTag, type ApprovalSummary } from '../../core/ledger/approval-index.ts';
import { undeliveredTag } from '../../core/ledger/waiting-for.ts';
import { type Session, callServer } from './session.ts';
import { readPayloads } from './read-payload.ts';
import { plainPayloadConverter } from '../../codec/plain-payload-converter.ts';

/** A workflow and its memo. The workflow or its starter wrote the memo, so do not trust it. */
export type WithMemo = Pick<WorkflowExecutionInfo, 'memo' | 'workflowId'>;

/** The open requests in a run's memo. */
export interface MemoRows {
  rows: ApprovalSummary[];
  /** The number of open requests whose rows did not fit into the memo. */
  more: number;
  /** The reason why the memo cannot be read here. Absent if it can. */
  unread?: string;
}

/** Returns the valid rows of a memo, which anyone may write. Leaves out a row that was copied from another workflow. */
export function memoRows({ memo, workflowId }: WithMemo): MemoRows {
  const approvals = memo?.[memoName];
  if (isUndecodable(approvals) && approvals.unread) return { rows: [], more: 0, unread: approvals.why };
  if (!isRecord(approvals) || !Array.isArray(approvals['open'])) return { rows: [], more: 0 };
  const { open, more } = approvals;
  return {
    rows: open
      .filter(isRow)
      .filter((row) => row.workflowId === workflowId)
      .map(withBounds),
    more: typeof more === 'number' && more > 0 ? more : 0,
  };
}

type RawRow = temporal.api.workflow.v1.IWorkflowExecutionInfo;

/** Decodes only Countersign's memo of each workflow: other memos of a foreign workflow may be unreadable (I5). */
export async function withMemos(session: Session, rows: readonly RawRow[]): Promise<WithMemo[]> {
  const payloads = rows.flatMap(({ memo }) => memo?.fields?.[memoName] ?? []);
  const values = await readPayloads(session, payloads);
  return rows.map(({ execution, memo }) => {
    const value = memo?.fields?.[memoName] == null ? undefined : values.shift();
    return { workflowId: execution?.workflowId ?? '', memo: { [memoName]: value } };
  });
}

export function indexedIds({ attributes }: Session, row: RawRow): string[] {
  return indexedTexts(row, attributes.ids);
}

export function settledIdsIn(session: Session, row: RawRow): string[] {
  return taggedIn(session, row, settledTag);
}

export function undeliveredIn(session: Session, row: RawRow): string[] {
  return taggedIn(session, row, undeliveredTag);
}

function taggedIn({ attributes: { tags } }: Session, row: RawRow, prefix: string): string[] {
  const texts = tags === null ? [] : indexedTexts(row, tags);
  return texts.flatMap((text) => (text.startsWith(prefix) ? [text.slice(prefix.length)] : []));
}

/** Reads a search attribute that is a list of keywords. No codec encodes search attributes. */
function indexedTexts({ searchAttributes }: RawRow, name: string): string[] {
  const payload = searchAttributes?.indexedFields?.[name];
  const texts: unknown = payload == null ? [] : plainPayloadConverter.fromPayload(payload);
  return isTexts(texts) ? texts : [];
}

export interface DescribedRun extends WithMemo {
  isRunning: boolean;
  /** The ids of the run's open requests, from its search attribute. */
  openIds: string[];
  /** The ids of the run's last settled requests, from its search attribute. */
  settledIds: string[];
}

/** Describes one run, without the delay of visibility. Throws the server's errors unchanged. */
export async function describeRun(session: Session, workflowId: string): Promise<DescribedRun> {
  const { connection, namespace } = session;
  const answer = await connection.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });
  const run = answer.workflowExecutionInfo ?? {};
  const [read] = await withMemos(session, [run]);
  const isRunning = Number(run.status) === statusRunning;
  return { ...read!, isRunning, openIds: indexedIds(session, run), settledIds: settledIdsIn(session, run) };
}

/** The number of `WORKFLOW_EXECUTION_STATUS_RUNNING` in Temporal's API. */
export const statusRunning = 1;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** True if the members that every reader of a row uses have their types. `withBounds` checks the others. */
function isRow(row: unknown): row is ApprovalSummary {
  if (!isRecord(row)) return false;
  const texts = ['requestId', 'toolName', 'agentName', 'riskLevel', 'severity', 'reason', 'requestedAt', 'digest'];
  return (
    texts.every((name) => typeof row[name] === 'string') &&
    ['deadline', 'rule'].every((name) => row[name] === null || typeof row[name] === 'string') &&
    isTexts(row['argumentNames']) &&
    (row['shownArguments'] === undefined ||
      (isRecord(row['shownArguments']) && isTexts(Object.values(row['shownArguments'])) && isTexts(row['notShown']))) &&
    (row['lineage'] === undefined || isTexts(row['lineage']))
  );
}

/** The most characters of a text in a memo. Runs write shorter ones; other workflows could fill the reader's memory. */
const longestText = 1_000;

/** Returns the row without members that no run can have written: too long, or of a wrong type. */
function withBounds(row: ApprovalSummary): ApprovalSummary {
  const { sentence, reviewers, approvers, escalated, cannotBeApproved, callerName, ...bare } = row;
  const isText = (value: unknown): boolean => typeof value === 'string' && value.length <= longestText;
  const areNames = (value: unknown): boolean => isTexts(value) && JSON.stringify(value).length <= longestText;
  return {
    ...bare,
    ...(isText(sentence) && { sentence }),
    ...(areNames(reviewers) && { reviewers }),
    ...(areNames(approvers) && { approvers }),
    ...(areSteps(escalated) && { escalated }),
    ...(isText(cannotBeApproved) && { cannotBeApproved }),
    ...(isText(callerName) && { callerName }),
  };
}

function areSteps(value: unknown): boolean {
  const isStep = (step: unknown): boolean =>
    isRecord(step) && typeof step['at'] === 'string' && isTexts(step['to']) && Object.keys(step).length === 2;
  return Array.isArray(value) && JSON.stringify(value).length <= longestText && value.every(isStep);
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

/** The ids of an execution, as requests to the server contain them. */
export interface ExecutionId {
  workflowId: string;
  runId: string;
}

export function executionIdOf({ execution }: RawRow): ExecutionId {
  return { workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' };
}

/** Yields the pages of executions that a visibility query finds, newest first. Default: all of the namespace. */
export async function* listedExecutions(
  session: Session,
  { query, pageSize = 1_000, timeoutMs }: { query?: string; pageSize?: number; timeoutMs?: number } = {},
): AsyncGenerator<readonly RawRow[], void, undefined> {
  const { connection, namespace } = session;
  let nextPageToken: Uint8Array | undefined;
  do {
    const request = { namespace, query, pageSize, nextPageToken };
    const page = await callServer(session, () => connection.workflowService.listWorkflowExecutions(request), {
      timeoutMs,
    });
    yield page.executions;
    nextPageToken = page.nextPageToken;
  } while (nextPageToken.length > 0);
}
