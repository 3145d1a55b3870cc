import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
} from '@temporalio/workflow';
import type { CheckApprovers } from '../../activities/present-ceiling.ts';
import { activityNames } from '../../contract.ts';
import { isObject } from '../../core/base/json.ts';
import { refusedBySecondGate, workerSource } from '../../core/base/tool-call.ts';
import type { Approver } from '../../core/ledger/approved-by.ts';

const { [activityNames.checkApprovers]: checkApprovers } = proxyActivities<{
  [activityNames.checkApprovers]: CheckApprovers;
}>({ startToCloseTimeout: '30s', retry: { maximumInterval: '10s' }, summary: 'Check that the approval still counts' });

const unknownSentence = 'it is not known whether the approval of this call still counts';

/** Asks workers whether the operator's present policy has revoked the approvers of a call. */
export class ApproverChecks {
  readonly #obey: (revoked: unknown) => void;
  readonly #open = new Set<CancellationScope>();

  /** `obey` is called after each check, with all keys and people that the policy revokes. */
  constructor(obey: (revoked: unknown) => void) {
    this.#obey = obey;
  }

  /** Resolves to why an approval by these people no longer counts; to undefined if it counts. Rejects if cancelled. */
  async problem(approvedBy: readonly Approver[]): Promise<string | undefined> {
    // `cancel` ends this scope. A caller in a non-cancellable scope gets the answer even in a cancelled workflow.
    const scope = new CancellationScope();
    this.#open.add(scope);
    try {
      const answer: unknown = await scope.run(() => checkApprovers({ approvedBy }));
      // Any client that may complete activities can write another answer.
      if (!isObject(answer)) return unknownSentence;
      const { problem, revoked } = answer;
      this.#obey(revoked);
      return problem === undefined || typeof problem === 'string' ? problem : unknownSentence;
    } catch (error) {
      if (isCancellation(error) && scope.consideredCancelled && this.#open.has(scope)) throw error;
      // An operator has failed the activity, or `cancel` has ended the check.
      return unknownSentence;
    } finally {
      this.#open.delete(scope);
    }
  }

  /** Ends the checks in flight, because the calls that wait for them are given up. */
  cancel(): void {
    const ended = [...this.#open];
    this.#open.clear();
    for (const scope of ended) scope.cancel();
  }
}

/** Returns the revocations in a failure of the second gate (`second-gate.ts`); undefined for any other failure. */
export function revokedIn(error: unknown): unknown {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (!(cause instanceof ApplicationFailure) || cause.failure?.source !== workerSource) return undefined;
  const [by, more] = (cause.details ?? []) as [unknown, { revoked?: unknown } | undefined];
  return by === refusedBySecondGate ? more?.revoked : undefined;
}
