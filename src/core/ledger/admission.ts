/** What answers a call before anybody is asked: a reviewer's earlier word, or a limit of the run (policy section 6). */
import type { OutcomeName } from './approval.ts';
import { standingDenial } from '../policy/grants.ts';
import { denialsOf, type Ledger } from './ledger-state.ts';
import type { Limits } from '../policy/limits.ts';
import { callSubjects } from '../match/matching.ts';
import type { Ruling } from '../policy/ruling.ts';
import { sentences } from './sentences.ts';
import type { JsonObject } from '../base/tool-call.ts';

/** `denied`: by a reviewer's earlier word; `refused`: by a limit. `content` is what the model is told. */
export interface Answer {
  outcome: Extract<OutcomeName, 'denied' | 'refused'>;
  content: string;
  reason?: string;
  grantId?: string;
}

export interface AdmittedCall {
  tool: string;
  args: JsonObject;
  digest: string;
  reversible: boolean;
  atMs: number;
}

/**
 * The answer to a call that the policy allows or asks about, or undefined if it may go on. What a reviewer said for
 * good binds an allowed call too; everything else answers only what would be asked.
 */
export function answerBefore(
  ledger: Ledger,
  { action }: Pick<Ruling, 'action'>,
  call: AdmittedCall,
  limits: Limits,
): Answer | undefined {
  const { tool, args, digest, atMs } = call;
  const standing = standingDenial(ledger.grants, { tool, digest, atMs, subjects: callSubjects({ tool, args }) });
  if (standing !== undefined) return { ...denied(standing.reason), grantId: standing.grantId };
  const most = limits.maxIrreversiblePerRun;
  if (action === 'ask') {
    const remembered = ledger.denied.calls.find((each) => each.digest === digest);
    const attempts = denialsOf(ledger, tool);
    // Without a retry left, the first denial was the last.
    if (attempts >= Math.max(1, limits.maxRetriesAfterDeny)) return refused(sentences.deniedForGood(attempts));
    if (remembered !== undefined) return denied(remembered.reason);
  }
  if (!call.reversible && most !== null && ledger.counts.irreversible >= most) {
    return refused(sentences.tooManyIrreversible(most));
  }
  if (action === 'ask' && ledger.open.length >= limits.maxPending) return refused(sentences.tooManyPending);
  return undefined;
}

function denied(reason: string | undefined): Answer {
  return { outcome: 'denied', content: sentences.deniedByReviewer(reason), ...(reason !== undefined && { reason }) };
}

function refused(content: string): Answer {
  return { outcome: 'refused', content, reason: content };
}
