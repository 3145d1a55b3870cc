import { ActivityFailure, ApplicationFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import { sentences } from '../../core/ledger/sentences.ts';
import { payloadNotKeptType } from '../../core/base/tool-failure.ts';
import { revokedIn } from '../gate/approver-checks.ts';
import { gateRefusal, ranOf } from './gate-refusal.ts';
import { runLocal } from '../sandbox/run-local.ts';

/** Notes that a model is told before a result, by the scope in which it made its call. */
const ofRun = (): Map<CancellationScope, string[]> => runLocal('notices', () => new Map());

/**
 * Makes a call for a model and returns what the model is told: the result, preceded by a note if a reviewer changed the
 * arguments or wrote words beside an approval; or a sentence if the gate refused the call, the call failed, its outcome is unknown, or it ran and its result
 * cannot be written. Rethrows a
 * cancellation, and any error that is neither a refusal of the gate nor an `ActivityFailure`.
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
  const heard: string[] = [];
  const notices = ofRun();
  notices.set(scope, heard);
  try {
    const result = await scope.run(call);
    return heard.length === 0 ? result : [...heard, textOf(result)].join('\n');
  } catch (error) {
    if (gateRefusal(error) !== undefined) return (error as Error).message;
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    // The words of a revoked reviewer count no more than their approval.
    const notes = revokedIn(error) === undefined ? heard : [];
    return [...notes, sentenceOf(error)].join('\n');
  } finally {
    notices.delete(scope);
  }
}

/** Adds a note for the model that made this call, if a model made it. */
export function noteForModel(notice: string): void {
  const notices = ofRun();
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
