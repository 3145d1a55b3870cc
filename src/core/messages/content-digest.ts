import { jsonDigest } from '../base/digest.ts';
import type { Json } from '../base/tool-call.ts';
import type { ControlMessage } from './control.ts';
import type { ParsedDecision } from './decision.ts';

/**
 * Identifies the content of a decision: a retry has the same id and the same digest. A sender who signs again signs at
 * another time, so of a signature only its key belongs to the content. The key stays in it because it says who is believed
 * to have sent the message (docs/decisions/0053). What people call the reviewer says nothing of who decides, and may change.
 */
export function decisionDigest(decision: ParsedDecision): string {
  const { reviewerName: _, ...content } = decision;
  return jsonDigest(withoutProof(content) as unknown as Json);
}

/** As `decisionDigest`, of any other message. `name` is the name of its signal. */
export function contentDigest(name: string, message: ControlMessage): string {
  return jsonDigest({ name, message: withoutProof(message) } as unknown as Json);
}

function withoutProof(message: Pick<ControlMessage, 'signature'>): object {
  const { signature } = message;
  return signature === undefined ? message : { ...message, signature: { keyId: signature.keyId } };
}
