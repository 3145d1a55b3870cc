import type { ApprovalDetails, Receipt } from '../../contract.ts';
import { isProblemError } from '../../core/base/problem.ts';
import type { Reply } from './reply.ts';

/** What a decision did. */
export function receiptText({ outcome, votes, recorded, successor, message }: Receipt): string {
  if (recorded === true) return 'Your answer is recorded. It counts once a worker of the run applies it.';
  if (successor !== undefined) return 'Your edit is taken. The edited call needs an answer of its own.';
  if (votes !== undefined) return `Your answer counts: ${votes.have} of ${votes.need} approvals.`;
  return outcome === undefined ? message : `Your answer counts: ${outcome}.`;
}

/** How a request was settled before somebody clicked. */
export function settledText({ settled }: ApprovalDetails): string | undefined {
  if (settled === undefined) return undefined;
  const by = settled.reviewerId === undefined ? '' : ` by ${settled.reviewerId}`;
  return `Nothing was changed: the request was settled already, ${settled.outcome}${by} at ${settled.settledAt}.`;
}

/** Codes of refusals that are about the arguments which somebody entered. */
const aboutInput = ['arguments_invalid', 'invalid_decision', 'undecodable', 'too_large', 'denied_by_policy'];

/** Why a decision was refused. Undefined for an error that is no refusal. */
export function refusalText(error: unknown): Reply | undefined {
  if (!isProblemError(error)) return undefined;
  return { text: `Nothing was changed: ${error.message}`, isAboutInput: aboutInput.includes(error.code) };
}
