import { workflowInfo } from '@temporalio/workflow';
import type { MessageSignature } from '../core/decision.ts';
import { identify, type Sender } from '../core/identify.ts';
import type { Ledger } from '../core/ledger.ts';
import type { Problem } from '../core/problem.ts';
import type { SignedAction } from '../core/signature.ts';
import type { RulesInForce } from './rules-in-force.ts';

/**
 * Signatures that may fail in one run before no more are checked: a check takes milliseconds, and a workflow task
 * that takes seconds is repeated for ever. A count of the run, for what comes together differs when a run is replayed.
 */
const maxBadSignatures = 200;

/** Who sends a message to this run, as far as it can be believed. */
export function senderOf(
  action: SignedAction,
  message: { reviewerId?: string; by?: string; signature?: MessageSignature },
  rules: RulesInForce,
  { badSignatures }: Ledger,
): Sender | { problem: Problem } {
  if (message.signature !== undefined && badSignatures >= maxBadSignatures) {
    return {
      problem: { code: 'rate_limited', message: 'too many signatures did not hold: this run checks no more of them' },
    };
  }
  const { namespace, workflowId } = workflowInfo();
  return identify({ action, message, namespace, workflowId }, rules.policies.ceiling);
}
