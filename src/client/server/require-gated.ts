import { journalMemoName, memoName, workflowType } from '../../contract.ts';
import { isObject } from '../../core/base/json.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { runNotFound } from '../../connection/server-error.ts';
import { callServer, type Session } from './session.ts';
import { readPayload } from './read-payload.ts';

const longestIdBytes = 1_000;

/**
 * Throws `run_not_found` unless a workflow has a gate, so that a message reaches no other workflow of the namespace. A
 * workflow that only looks gated exposes no other workflow.
 */
export async function requireGated(session: Session, workflowId: string): Promise<void> {
  const { connection, namespace, attributes } = session;
  if (workflowId === '' || Buffer.byteLength(workflowId) > longestIdBytes) {
    throw runNotFound(workflowId.slice(0, 80), namespace);
  }
  const { workflowExecutionInfo: run } = await callServer(
    session,
    () => connection.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } }),
    { workflowId },
  );
  if (run?.type?.name === workflowType) return;
  // A custom workflow with a gate has the inbox's attributes once it has asked, or a memo with its journal.
  const indexed = run?.searchAttributes?.indexedFields ?? {};
  if ([attributes.ids, attributes.tags].some((name) => name !== null && Object.hasOwn(indexed, name))) return;
  for (const name of [memoName, journalMemoName]) {
    const payload = run?.memo?.fields?.[name];
    if (payload == null) continue;
    const value = await readPayload(session, payload);
    // A memo of another purpose may have the same name, so it must have a journal. An unreadable one may have it.
    if ((isUndecodable(value) && value.unread) || (isObject(value) && Array.isArray(value['journal']))) return;
  }
  throw runNotFound(workflowId, namespace);
}

/** Returns the part of a visibility query that finds agent runs, and custom workflows with requests. */
export function gatedRunsQuery({ attributes: { ids, tags } }: Session): string {
  const asked = [ids, ...(tags === null ? [] : [tags])].map((name) => ` OR ${name} IS NOT NULL`).join('');
  return `(WorkflowType = "${workflowType}"${asked})`;
}
