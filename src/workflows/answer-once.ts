import { defineQuery, setHandler } from '@temporalio/workflow';
import { queryNames } from '../contract.ts';
import type { Receipt } from '../core/approval.ts';
import { jsonDigest } from '../core/digest.ts';
import type { Json } from '../core/tool-call.ts';
import { sizeOf } from '../core/undecodable.ts';
import type { Book } from './book.ts';
import type { Door } from './message-door.ts';

type Apply<Message> = Door<Message>['apply'];

const receiptQuery = defineQuery<Receipt | null, [unknown?]>(queryNames.receipt);

/**
 * Lets a message with an id change something once, and answers query `receipt`. An update that its sender gave up comes
 * all the same, after signals that were sent later (tried): without this the older of two policies would be the last.
 */
export function answerOnce(book: Book): <Message>(name: string, apply: Apply<Message>) => Apply<Message> {
  /** Answers that take an activity. The run does not continue as new meanwhile. */
  const underWay = new Map<string, { said: string; answer: Promise<Receipt> }>();
  const answered = (id: unknown) => book.ledger.answered.find(({ messageId }) => messageId === id);
  setHandler(receiptQuery, (filter) => {
    const { messageId } = (filter ?? {}) as { messageId?: unknown };
    return answered(messageId)?.receipt ?? null;
  });
  return (name, apply) => (message, atMs) => {
    const { messageId } = message as { messageId?: string };
    if (messageId === undefined) return apply(message, atMs);
    const said = jsonDigest({ name, message } as unknown as Json);
    const earlier = answered(messageId) ?? underWay.get(messageId);
    if (earlier !== undefined && earlier.said !== said) {
      book.refuse('invalid_decision', sizeOf(message));
      const sentence = `another message came under the id '${messageId}' already: give each one its own`;
      return { requestId: '', accepted: false, code: 'invalid_decision', message: sentence };
    }
    if (earlier !== undefined) return 'receipt' in earlier ? earlier.receipt : earlier.answer;
    const keep = (receipt: Receipt): Receipt => {
      if (receipt.accepted) book.apply({ kind: 'answer', messageId, said, receipt });
      return receipt;
    };
    const answer = apply(message, atMs);
    if (!('then' in answer)) return keep(answer);
    const kept = answer.then(keep).finally(() => underWay.delete(messageId));
    underWay.set(messageId, { said, answer: kept });
    return kept;
  };
}
