import { workflowInfo } from '@temporalio/workflow';
import type { MessageSignature } from '../core/decision.ts';
import { identify, presumedSender, type Sender } from '../core/identify.ts';
import type { Problem } from '../core/problem.ts';
import type { SignedAction } from '../core/signature.ts';
import { type Book, checksOfLink } from './book.ts';
import type { RulesInForce } from './rules-in-force.ts';

/**
 * A check takes milliseconds, and a workflow task that takes seconds is repeated for ever. A link that has looked at
 * `checksOfLink` signatures continues as new, and counts from nought again; while something runs that keeps it from that,
 * it looks at as many more, and no further. Counted is in the order of messages alone: neither workflow time nor what
 * comes together in an activation is the same in a replay that finds two activations as one (docs/decisions/0017).
 */
const mostChecks = 2 * checksOfLink;

/** Who sends a message to this run, as far as it can be believed. */
export function senderOf(
  action: SignedAction,
  message: { reviewerId?: string; by?: string; signature?: MessageSignature },
  rules: RulesInForce,
  book: Book,
): Sender | { problem: Problem } {
  const { ceiling } = rules.policies;
  const presumed = presumedSender({ action, message }, ceiling);
  if ('problem' in presumed || message.signature === undefined) return presumed;
  if (book.checks >= mostChecks) {
    const sentence = 'this run was sent too many signatures: repeat the message once it has continued as new';
    return { problem: { code: 'rate_limited', message: sentence } };
  }
  book.checks++;
  const { namespace, workflowId } = workflowInfo();
  return identify({ action, message, namespace, workflowId }, ceiling);
}
