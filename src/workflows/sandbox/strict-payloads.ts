/**
 * Messages to a run are read strictly: JSON that two readers could understand differently is refused, so that what a
 * person signed, what a gateway checked and what the run takes are one (docs/decisions/0024). The payload converter
 * cannot tell what a payload is for, so those that anybody can send are marked before it reads them.
 */
import type { Payload } from '@temporalio/common';
import type { ActivateInput } from '@temporalio/workflow';
import { messageNames, parentsChangedName, queryNames, workflowType } from '../../contract.ts';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

const metadataKey = 'countersign.strict';
const excessKey = 'countersign.excess';
const mark = new Uint8Array();

/** Bytes of signals that one activation reads: reading more takes longer than a workflow task may (I5). */
export const maxSignalBytes = 8_000_000;

/** The queries of ours that take an argument. */
export const askingQueries: readonly string[] = [queryNames.approvals, queryNames.receipt];
const messages: readonly string[] = Object.values(messageNames);

export function isStrict({ metadata }: Payload): boolean {
  return metadata?.[metadataKey] != null;
}

/** True of a signal that came with too many others at once; it is refused without being read. */
export function isExcess({ metadata }: Payload): boolean {
  return metadata?.[excessKey] != null;
}

/**
 * Marks the signals past `maxSignalBytes`, in the order in which they came, those of a calling run aside. An agent run
 * handles signals of every name; in another workflow only ours are counted.
 */
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
 * Marks the arguments of our signals, updates and queries, and a client's input of an agent run. Not marked, and read
 * as ever: what workers alone write (results of activities and children, what a run hands to its nested ones and to
 * its next execution), and the messages of a workflow of one's own.
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

/** `CONTINUE_AS_NEW_INITIATOR_WORKFLOW` of Temporal's API. Retries and cron runs get the client's input once more. */
const byTheRunItself = 1;

function isFromClient(start: NonNullable<Job['initializeWorkflow']>): boolean {
  if (start.workflowType !== workflowType || start.parentWorkflowInfo != null) return false;
  const initiator: number = start.continuedInitiator ?? 0;
  return initiator !== byTheRunItself;
}

function marked(payloads: Payload[] | null | undefined, key = metadataKey): Payload[] {
  return (payloads ?? []).map((payload) => ({ ...payload, metadata: { ...payload.metadata, [key]: mark } }));
}
