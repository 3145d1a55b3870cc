import { defineQuery, setHandler } from '@temporalio/workflow';
import { decideName, queryNames } from '../../contract.ts';
import type { Receipt } from '../../core/ledger/approval.ts';
import { contentDigest, decisionDigest, messageIdOf, type ControlMessage } from '../../core/messages/control.ts';
import type { ParsedDecision } from '../../core/messages/decision.ts';
import type { GateState } from '../state/gate-state.ts';
import { refused } from './message-kind.ts';

/** Identifies a message: a retry has the same id and the same content. */
export interface MessageIdentity {
  id: string;
  digest: string;
}

/** Returns the identity of a message; undefined without an id. A decision's identity includes request and content. */
export function identityOf(name: string, message: unknown): MessageIdentity | undefined {
  if (name === decideName) {
    const { requestId, decisionId } = message as ParsedDecision;
    const digest = decisionDigest(message as ParsedDecision);
    return decisionId === undefined ? undefined : { id: `${decideName}:${requestId}:${decisionId}:${digest}`, digest };
  }
  const id = messageIdOf(message as ControlMessage);
  return id === undefined ? undefined : { id, digest: contentDigest(name, message as ControlMessage) };
}

/** Returns the receipt of an earlier message with this id; a refusal if its content differs (docs/decisions/0016). */
export function earlierReceipt({ ledger }: GateState, { id, digest }: MessageIdentity): Receipt | undefined {
  const earlier = ledger.answered.find(({ messageId }) => messageId === id);
  if (earlier === undefined) return undefined;
  return earlier.contentDigest === digest ? earlier.receipt : misusedId(id);
}

/** Keeps the receipt of a message that changed something, for its retries. Decisions are kept as votes instead. */
export function keepReceipt(state: GateState, { id, digest }: MessageIdentity, receipt: Receipt): void {
  if (receipt.accepted && !id.startsWith(`${decideName}:`)) {
    state.apply({ kind: 'answer', messageId: id, contentDigest: digest, receipt });
  }
}

export function misusedId(id: string): Receipt {
  const message = `another message has the id '${id}' already: give each message its own id`;
  return refused('', { code: 'invalid_message', message });
}

const receiptQuery = defineQuery<Receipt | null, [unknown?]>(queryNames.receipt);

/** Answers query `receipt` by a message's id: null if none is kept, `misusedId` if the content digest is another. */
export function answerReceipts(state: GateState): void {
  setHandler(receiptQuery, (filter) => {
    state.requirePast();
    const { messageId, contentDigest: digest } = (filter ?? {}) as { messageId?: unknown; contentDigest?: unknown };
    const found = state.ledger.answered.find((each) => each.messageId === messageId);
    if (found === undefined) return null;
    return digest === undefined || digest === found.contentDigest ? found.receipt : misusedId(found.messageId);
  });
}
