/**
 * Marks the payloads that any client can write. The payload converter, which does not know what a payload is for,
 * refuses marked JSON that two parsers could read differently. So the run reads exactly what a reviewer signed
 * (docs/decisions/0024).
 */
import type { Payload } from '@temporalio/common';
import type { ActivateInput } from '@temporalio/workflow';
import { messageNames, parentsChangedName, queryNames, workflowType } from '../../contract.ts';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

const metadataKey = 'countersign.strict';
const excessKey = 'countersign.excess';
const mark = new Uint8Array();

/** The most bytes of signals that one activation reads. Reading more takes longer than a workflow task may (I5). */
export const maxSignalBytes = 8_000_000;

export const askingQueries: readonly string[] = [queryNames.approvals, queryNames.receipt];
const messages: readonly string[] = Object.values(messageNames);

export function isStrict({ metadata }: Payload): boolean {
  return metadata?.[metadataKey] != null;
}

/** True for a signal that `markExcess` has marked. The payload converter refuses it without reading it. */
export function isExcess({ metadata }: Payload): boolean {
  return metadata?.[excessKey] != null;
}

/** Marks signals beyond the first `maxSignalBytes` bytes. Never marks `parentsChanged`, nor an author's own signals. */
export function markExcess(jobs: readonly Job[], isAgentRun: boolean): void {
  let bytes = 0;
  for (const { signalWorkflow } of jobs) {
    // A refused `parentsChanged` would leave this run under old policies. An author's signals are not the gate's.
    const name = signalWorkflow?.signalName ?? '';
    if (signalWorkflow == null || name === parentsChangedName || !(isAgentRun || messages.includes(name))) continue;
    bytes += (signalWorkflow.input ?? []).reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
    if (bytes > maxSignalBytes) signalWorkflow.input = marked(signalWorkflow.input, excessKey);
  }
}

/**
 * Marks the payloads that clients write for the gate: arguments of its signals, updates and queries, and the input of
 * an agent run. Payloads that workers write get no mark, nor do an author's own messages to a custom workflow.
 */
export function markStrict(jobs: readonly Job[]): void {
  for (const { signalWorkflow, doUpdate, queryWorkflow, initializeWorkflow } of jobs) {
    if (signalWorkflow != null && messages.includes(signalWorkflow.signalName ?? '')) {
      signalWorkflow.input = marked(signalWorkflow.input);
    }
    if (doUpdate != null && messages.includes(doUpdate.name ?? '')) doUpdate.input = marked(doUpdate.input);
    if (queryWorkflow != null && askingQueries.includes(queryWorkflow.queryType ?? '')) {
      queryWorkflow.arguments = marked(queryWorkflow.arguments);
    }
    if (initializeWorkflow != null && isFromClient(initializeWorkflow)) {
      initializeWorkflow.arguments = marked(initializeWorkflow.arguments);
    }
  }
}

/** `CONTINUE_AS_NEW_INITIATOR_WORKFLOW` of Temporal's API. Retries and cron runs repeat the client's input. */
const byTheRunItself = 1;

function isFromClient(start: NonNullable<Job['initializeWorkflow']>): boolean {
  if (start.workflowType !== workflowType || start.parentWorkflowInfo != null) return false;
  const initiator: number = start.continuedInitiator ?? 0;
  return initiator !== byTheRunItself;
}

function marked(payloads: Payload[] | null | undefined, key = metadataKey): Payload[] {
  return (payloads ?? []).map((payload) => ({ ...payload, metadata: { ...payload.metadata, [key]: mark } }));
}
