import { ActivityFailure, ApplicationFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import { sentences } from '../../core/ledger/sentences.ts';
import { payloadNotKeptType } from '../../core/base/tool-call.ts';
import { revokedIn } from '../gate/approver-checks.ts';
import { gateRefusal, ranOf } from './gate-refusal.ts';
import { runLocal } from '../sandbox/run-local.ts';

const noticesOfRun = (): Map<CancellationScope, string[]> => runLocal('notices', () => new Map());

/**
 * Makes a call for a model and returns the text for the model: the result, after a notice if a reviewer changed the
 * arguments or gave a reason for an approval; or a sentence if the gate refused the call, the call failed, its outcome
 * is unknown, or it ran and its result cannot be written. Rethrows a cancellation, and any error that is neither a
 * refusal of the gate nor an `ActivityFailure`.
 *
 * @example
 * ```ts
 * import { proxyActivities } from '@temporalio/workflow';
 * import { ApprovalGate, forModel } from 'countersign/workflow';
 *
 * const activities = proxyActivities<{ refund(orderId: string): Promise<string> }>({ startToCloseTimeout: '1 minute' });
 *
 * export async function refundForModel(orderId: string): Promise<string> {
 *   const gate = new ApprovalGate();
 *   const { refund } = gate.guard(activities, { refund: { risk: 'destructive', arguments: ['orderId'] } });
 *   await gate.load({ agent: 'returns' });
 *   return forModel(() => refund(orderId));
 * }
 * ```
 */
export async function forModel<Result>(call: () => Promise<Result>): Promise<Result | string> {
  const scope = new CancellationScope();
  const ownNotices: string[] = [];
  const notices = noticesOfRun();
  notices.set(scope, ownNotices);
  try {
    const result = await scope.run(call);
    return ownNotices.length === 0 ? result : [...ownNotices, textOf(result)].join('\n');
  } catch (error) {
    if (gateRefusal(error) !== undefined) return (error as Error).message;
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    // The notices quote reviewers. If the policy has revoked them since, leave the notices out.
    const shownNotices = revokedIn(error) === undefined ? ownNotices : [];
    return [...shownNotices, sentenceOf(error)].join('\n');
  } finally {
    notices.delete(scope);
  }
}

export function noteForModel(notice: string): void {
  const notices = noticesOfRun();
  let scope: CancellationScope | undefined = CancellationScope.current();
  while (scope !== undefined && !notices.has(scope)) scope = scope.parent;
  if (scope !== undefined) notices.get(scope)!.push(notice);
}

function textOf(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
}

function sentenceOf(error: ActivityFailure): string {
  const { cause } = error;
  if (ranOf(error) === 'unknown') return sentences.unknownOutcome;
  const isNotKept = cause instanceof ApplicationFailure && cause.type === payloadNotKeptType;
  if (isNotKept) return sentences.resultNotGiven(cause.message);
  return sentences.failed(cause instanceof Error ? cause.message : error.message);
}
