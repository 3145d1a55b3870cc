/**
 * Messages to a run are read strictly: JSON that two readers could interpret differently is refused, so what a person
 * signed, a gateway checked and the run reads are the same (docs/decisions/0024). The payload converter cannot tell
 * what a payload is for, so payloads that any sender can write are marked before it reads them.
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

/** True for a signal that arrived with too many bytes of other signals; it is refused without being read. */
export function isExcess({ metadata }: Payload): boolean {
  return metadata?.[excessKey] != null;
}

/** Marks signals past `maxSignalBytes`, in order of arrival. In custom workflows, only the gate's signals count. */
export function markExcess(jobs: readonly Job[], isAgentRun: boolean): void {
  let bytes = 0;
  for (const { signalWorkflow } of jobs) {
    const name = signalWorkflow?.signalName ?? '';
    if (signalWorkflow == null || name === parentsChangedName || !(isAgentRun || messages.includes(name))) continue;
    bytes += (signalWorkflow.input ?? []).reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
    if (bytes > maxSignalBytes) signalWorkflow.input = marked(signalWorkflow.input, excessKey);
  }
}

/**
 * Marks the arguments of the gate's signals, updates and queries, and a client's input of an agent run: not what
 * workers write (results, input of nested runs and of the next execution), nor the messages of custom workflows.
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

/** `CONTINUE_AS_NEW_INITIATOR_WORKFLOW` of Temporal's API. Retries and cron runs get the client's input again. */
const byTheRunItself = 1;

function isFromClient(start: NonNullable<Job['initializeWorkflow']>): boolean {
  if (start.workflowType !== workflowType || start.parentWorkflowInfo != null) return false;
  const initiator: number = start.continuedInitiator ?? 0;
  return initiator !== byTheRunItself;
}

function marked(payloads: Payload[] | null | undefined, key = metadataKey): Payload[] {
  return (payloads ?? []).map((payload) => ({ ...payload, metadata: { ...payload.metadata, [key]: mark } }));
}
