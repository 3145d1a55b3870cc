import { defineQuery, setHandler } from '@temporalio/workflow';
import { queryNames } from '../contract.ts';
import type { Receipt } from '../core/approval.ts';
import { messageIdOf, type Signed } from '../core/control.ts';
import { jsonDigest } from '../core/digest.ts';
import type { Json } from '../core/tool-call.ts';
import { sizeOf } from '../core/undecodable.ts';
import type { Book } from './book.ts';
import { welcome, type Door } from './message-door.ts';

type Answering<Message> = Pick<Door<Message>, 'preview' | 'apply'>;

const receiptQuery = defineQuery<Receipt | null, [unknown?]>(queryNames.receipt);

/**
 * Lets a message with an id, or a signature, change something once, and answers query `receipt`. An update that its
 * sender gave up comes all the same, after signals that were sent later (tried): without this the older of two policies
 * would be the last.
 */
export function answerOnce(
  book: Book,
): <Message extends Signed>(name: string, door: Answering<Message>) => Answering<Message> {
  /** Answers that take an activity. The run does not continue as new meanwhile. */
  const underWay = new Map<string, { said: string; answer: Promise<Receipt> }>();
  const answered = (id: unknown) => book.ledger.answered.find(({ messageId }) => messageId === id);
  setHandler(receiptQuery, (filter) => {
    const { messageId } = (filter ?? {}) as { messageId?: unknown };
    return answered(messageId)?.receipt ?? null;
  });
  return (name, { preview, apply }) => ({
    preview: (message) => {
      const known = find(name, message);
      if (known?.earlier === undefined) return preview(message);
      // A repetition is let in, to be given the first receipt.
      return known.earlier.said === known.said ? welcome : misused(known.messageId);
    },
    apply: (message, atMs) => {
      const known = find(name, message);
      if (known === undefined) return apply(message, atMs);
      const { messageId, said, earlier } = known;
      if (earlier !== undefined && earlier.said !== said) {
        book.refuse('invalid_decision', sizeOf(message));
        return misused(messageId);
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
    },
  });

  /** The id of a message that has one, what it says, and what came under that id before. */
  function find(name: string, message: Signed) {
    const messageId = messageIdOf(message);
    if (messageId === undefined) return undefined;
    const said = jsonDigest({ name, message } as unknown as Json);
    return { messageId, said, earlier: answered(messageId) ?? underWay.get(messageId) };
  }
}

function misused(messageId: string): Receipt {
  const sentence = `another message came under the id '${messageId}' already: give each one its own`;
  return { requestId: '', accepted: false, code: 'invalid_decision', message: sentence };
}
