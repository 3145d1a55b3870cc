import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { OutcomeName, Ran } from '../../core/ledger/approval.ts';
import {
  leftInMidCallTypes,
  payloadUnreadType,
  refusedBySecondGate,
  workerSource,
  type Json,
} from '../../core/base/tool-call.ts';

/** Why a gated call did not run; the first entry of the failure's `details`. */
export interface GateRefusal {
  /** Marks the failure as the gate's. */
  gate: true;
  /** The name of the activity. */
  toolName: string;
  outcome: OutcomeName;
  /** Absent if no reviewer was asked. */
  requestId?: string;
  /** The reason that the reviewer or the rule gave. */
  reason?: string;
  /** The reviewer whose vote settled the request. */
  reviewerId?: string;
  /** For `responded`: the answer that a reviewer gave in place of the activity. */
  response?: Json;
}

/**
 * The error of a gated call that does not run, which is never retried. `type`: the outcome, or `arguments_invalid` for
 * arguments that cannot be shown. `message`: the sentence that a model would get.
 */
export function refusal(message: string, details: Omit<GateRefusal, 'gate'>, type: string = details.outcome): Error {
  return ApplicationFailure.create({ message, type, nonRetryable: true, details: [{ gate: true, ...details }] });
}

/**
 * Returns the gate's refusal from an error of a gated call; undefined for every other error.
 *
 * @example
 * ```ts
 * import { proxyActivities } from '@temporalio/workflow';
 * import { ApprovalGate, gateRefusal } from 'countersign/workflow';
 *
 * const activities = proxyActivities<{ refund(orderId: string): Promise<string> }>({ startToCloseTimeout: '1 minute' });
 *
 * export async function refundOrExplain(orderId: string): Promise<string> {
 *   const gate = new ApprovalGate();
 *   const { refund } = gate.guard(activities, { refund: { risk: 'destructive', arguments: ['orderId'] } });
 *   await gate.load({ agent: 'returns' });
 *   return refund(orderId).catch((error: unknown) => {
 *     const refusal = gateRefusal(error);
 *     if (refusal === undefined) throw error;
 *     return `${refusal.toolName} is ${refusal.outcome}: ${refusal.reason}`;
 *   });
 * }
 * ```
 */
export function gateRefusal(error: unknown): GateRefusal | undefined {
  const details: unknown = error instanceof ApplicationFailure ? error.details?.[0] : undefined;
  return typeof details === 'object' && details !== null && 'gate' in details && details.gate === true
    ? (details as GateRefusal)
    : undefined;
}

/** Whether the activity ran, as far as the error of its call proves it; otherwise `unknown`. */
export function ranOf(error: unknown): Ran {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START') return 'no';
  // After a time-out, a worker's shutdown or a cancellation in mid-call, the effect may have happened.
  if (!(cause instanceof ApplicationFailure)) return 'unknown';
  if (leftInMidCallTypes.includes(cause.type ?? '')) return 'unknown';
  // A failure that no worker wrote is by an operator who failed the activity, which may have run.
  if (cause.failure?.source !== workerSource) return 'unknown';
  const notStarted = cause.details?.[0] === refusedBySecondGate || cause.type === payloadUnreadType;
  return notStarted || isUnregistered(cause) ? 'no' : 'yes';
}

/** True for the error of a worker without this activity. An author's error has another message. */
function isUnregistered({ type, message }: ApplicationFailure): boolean {
  return type === 'NotFoundError' && /^Activity function .* is not registered on this Worker/.test(message);
}
