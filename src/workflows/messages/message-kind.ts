import type { LateDecision, Receipt } from '../../core/ledger/approval.ts';
import type { Sender } from '../../core/messages/sender.ts';
import type { Problem } from '../../core/base/problem.ts';

/** One kind of message, with what the pipeline needs at each step. No content of a message makes a method throw. */
export interface MessageKind<Message> {
  /** The name of the signal that carries the message, and of the update if there is one. */
  name: string;
  /** True if its signal and update also accept a list of messages, which is answered in order. Default false. */
  takesLists?: boolean;
  /** Reads a decoded payload. `eventId`: the history event of a signal; an update has none. */
  parse(value: unknown, eventId?: string): { message: Message } | { problem: Problem };
  /** The requests that the message may settle. If one is just past its deadline, the recorded time decides (I6). */
  concerns(message: Message): readonly string[];
  /** Returns the time to assume if the recorded time cannot be read. Absent: the message misses every deadline. */
  undatedAtMs?(message: Message): number;
  /** Predicts the answer of `apply` from the ledger and the policies. Changes nothing and verifies no signature. */
  preview(message: Message, sender: Sender, atMs: number): Receipt;
  /** True if the message loosens a policy by an operator's signature. Then a worker checks that the signer counts. */
  loosens?(message: Message, sender: Sender, atMs: number): boolean;
  /** What the journal keeps of a message that is refused as `expired`. Absent: its code and size. */
  late?(message: Message, sender: Sender): LateDecision;
  /** Applies the message as sent at `atMs`, or returns what must be looked up first. */
  apply(message: Message, sender: Sender, atMs: number): Receipt | Lookup;
}

/** A lookup by an activity, which must return before a message can be applied. */
export interface Lookup {
  /** Schedules the activity; resolves to a function that applies its result. A rejection is answered with `failed`. */
  find(): Promise<() => Receipt>;
  /** True if later messages wait until this lookup has returned. */
  blocks: boolean;
  /** True if the limit on lookups does not apply, because the message must not be missed. Default false. */
  isRequired?: boolean;
  /** The request that must not expire before this lookup returns, if the lookup does not block. Absent: none. */
  holds?: string;
  /** The sentence for the sender if the activity fails. */
  failed: string;
  /** The sentence for the sender if the run ends first. */
  ended: string;
}

export const acceptable: Receipt = { requestId: '', accepted: true, message: '' };

export const tooManyLookups: Problem = {
  code: 'rate_limited',
  message: 'this run received too many edits or policies: send the message again after it has continued as new',
};

export function refused(requestId: string, problem: Problem): Receipt {
  return { requestId, accepted: false, ...problem };
}
