import type { Payload } from '@temporalio/common';
import type { ActivateInput } from '@temporalio/workflow';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { payloadConverter } from './payload-converter.ts';

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

/**
 * Why this activation cannot be processed yet; undefined if it can. Only workers write the results of activities and
 * children and the arguments of continue-as-new. If such a payload is in external storage that cannot be read now,
 * another worker or a later attempt can read it. Payloads that anyone can send (signals, updates, queries, a start) are
 * not checked here: they are refused as undecodable, and must not hold up the run (I5c).
 */
export function unreadPayloadOf(jobs: readonly Job[]): string | undefined {
  for (const { resolveActivity, resolveChildWorkflowExecution, initializeWorkflow } of jobs) {
    const carried = initializeWorkflow?.continuedFromExecutionRunId ? initializeWorkflow.arguments : [];
    const results = [
      resolveActivity?.result?.completed?.result,
      resolveChildWorkflowExecution?.result?.completed?.result,
    ];
    for (const payload of [...results, ...(carried ?? [])]) {
      const why = payload == null ? undefined : whyUnread(payload);
      if (why !== undefined) {
        return `A payload of this run cannot be read: ${why}. Give each worker of the task queue the same largePayloads.`;
      }
    }
  }
  return undefined;
}

/** References are small: larger payloads are not decoded for this check. */
const longestReference = 64;

function whyUnread(payload: Payload): string | undefined {
  if ((payload.data?.length ?? 0) > longestReference) return undefined;
  const value: unknown = payloadConverter.fromPayload(payload);
  return isUndecodable(value) && value.unread ? value.why : undefined;
}
