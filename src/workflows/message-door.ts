/**
 * Where messages to a run come in: each as a signal and as an update, and every signal under another name. Total:
 * whatever arrives, the run goes on, and what changes nothing is refused by update and counted by signal (I4, I5).
 */
import {
  ApplicationFailure,
  defineSignal,
  defineUpdate,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import type { Receipt } from '../core/approval.ts';
import { canonicalJsonProblem } from '../core/canonical-json.ts';
import { maxDecisions } from '../core/decision.ts';
import type { Problem, ProblemCode } from '../core/problem.ts';
import { isUndecodable, sizeOf } from '../core/undecodable.ts';
import type { Book } from './book.ts';
import type { DeadlineWatch } from './deadline-watch.ts';

/** One kind of message, from what came over the wire to what its sender is told. */
export interface Door<Message> {
  name: string;
  /** True: a list of messages is taken too, and answered in order. */
  takesLists?: boolean;
  read: (value: unknown) => { message: Message } | { problem: Problem };
  /** The requests that it may settle: if one of them is just past its deadline, the time of sending decides (I6). */
  concerns: (message: Message) => readonly string[];
  /** True: it changes what other messages leave behind, so that it comes after all that came before it. Default false. */
  isOrdered?: boolean;
  /** What `apply` would answer now, as far as that can be told; changes nothing. */
  preview: (message: Message) => Receipt;
  /** `atMs`: when it was sent. Counts what it refuses. */
  apply: (message: Message, atMs: number) => Receipt | Promise<Receipt>;
}

export function openDoor<Message>(door: Door<Message>, book: Book, watch: DeadlineWatch): void {
  const { name, takesLists = false, isOrdered = false, concerns, preview, apply } = door;
  /** What has no canonical JSON has no digest, and nothing that could be signed. */
  const read: Door<Message>['read'] = (value) => {
    const found = door.read(value);
    const problem = 'problem' in found ? undefined : canonicalJsonProblem(found.message);
    return problem === undefined ? found : { problem: { code: 'invalid_decision', message: problem } };
  };
  /** The second argument is the history event that brought the signal; the interceptor of `activation.ts` adds it. */
  setHandler(defineSignal<[unknown, string?]>(name), (payload, eventId) => onSignal(payload, eventId ?? ''));
  setHandler(defineUpdate<Receipt | Receipt[], [unknown]>(name), onUpdate, { validator: validate });

  /** Handlers stand before a link knows its rules, and what came while it began anew is handed to them at once. */
  function onSignal(payload: unknown, eventId: string): void {
    if (!book.isGoverned) return book.whenGoverned(() => onSignal(payload, eventId), eventId);
    try {
      if (isUndecodable(payload)) return book.refuse('undecodable', sizeOf(payload));
      const items: unknown[] = takesLists && Array.isArray(payload) ? payload : [payload];
      if (items.length === 0 || items.length > maxDecisions) return book.refuse('invalid_decision', sizeOf(payload));
      for (const item of items) {
        const found = read(item);
        if ('problem' in found) book.refuse(found.problem.code, sizeOf(item));
        else applySafely(found.message, eventId);
      }
    } catch {
      book.refuse('internal', 0);
    }
  }

  function applySafely(message: Message, eventId: string): void {
    try {
      const answered = applyInTurn(message, eventId);
      if ('then' in answered) void answered.catch(() => book.refuse('internal', 0));
    } catch {
      book.refuse('internal', 0);
    }
  }

  /** Now, or once it is known what its time is and what came before it. */
  function applyInTurn(message: Message, eventId?: string): Receipt | Promise<Receipt> {
    const arrived = { concerns: concerns(message), isOrdered, ...(eventId !== undefined && { eventId }) };
    let answer = (_atMs: number): void => {};
    const answered = new Promise<Receipt>((resolve, reject) => {
      answer = (atMs) => {
        try {
          resolve(apply(message, atMs));
        } catch (error) {
          reject(error);
        }
      };
    });
    return watch.park(arrived, answer) ? untilTheEnd(message, answered) : apply(message, Date.now());
  }

  async function untilTheEnd(message: Message, answered: Promise<Receipt>): Promise<Receipt> {
    const { requestId = '' } = message as { requestId?: string };
    const receipt = await book.lookedInto.wait(answered, () => {
      book.refuse('run_closed', sizeOf(message), requestId);
      const sentence = 'the run ended before it was known what came before the message';
      return { requestId, accepted: false, code: 'run_closed', message: sentence };
    });
    return 'ended' in receipt ? receipt.ended : receipt;
  }

  /** Refuses before anything enters history. Validators do not run on replay: they change nothing. */
  function validate(payload: unknown): void {
    if (isUndecodable(payload)) throw failure('undecodable', `the message could not be decoded: ${payload.why}`);
    if (takesLists && Array.isArray(payload)) {
      if (payload.length > 0 && payload.length <= maxDecisions) return;
      throw failure('invalid_decision', `a list holds 1 to ${maxDecisions} decisions, not ${payload.length}`);
    }
    const found = read(payload);
    if ('problem' in found) throwRefused(misshapen(found.problem));
    else if (book.isGoverned) throwRefused(preview(found.message));
  }

  async function onUpdate(payload: unknown): Promise<Receipt | Receipt[]> {
    book.updates++;
    if (!book.isGoverned) await new Promise<void>((resolve) => book.whenGoverned(resolve));
    // One after another: the first may settle what the next is about.
    if (Array.isArray(payload) && takesLists) {
      const receipts: Receipt[] = [];
      for (const item of payload as unknown[]) {
        const answer = applyOne(item);
        receipts.push('then' in answer ? await answer : answer);
      }
      return receipts;
    }
    const answer = applyOne(payload);
    const receipt = 'then' in answer ? await answer : answer;
    throwRefused(receipt);
    return receipt;
  }

  function applyOne(payload: unknown): Receipt | Promise<Receipt> {
    const found = read(payload);
    if ('message' in found) return applyInTurn(found.message);
    book.refuse(found.problem.code, sizeOf(payload));
    return misshapen(found.problem);
  }
}

/** A signal under a name that nobody handles would be buffered in silence: it is recorded as refused instead. */
export function closeOtherDoors(book: Book): void {
  setDefaultSignalHandler((_name, ...payloads) => {
    const size = payloads.reduce<number>((sum, each) => sum + sizeOf(each), 0);
    book.refuse(payloads.some(isUndecodable) ? 'undecodable' : 'invalid_decision', size);
  });
}

/** What a validator answers that finds nothing to refuse. */
export const welcome: Receipt = { requestId: '', accepted: true, message: '' };

function misshapen(problem: Problem): Receipt {
  return { requestId: '', accepted: false, ...problem };
}

function throwRefused(receipt: Receipt): void {
  if (receipt.code !== undefined) throw failure(receipt.code, receipt.message, receipt);
}

function failure(code: ProblemCode, message: string, receipt?: Receipt): ApplicationFailure {
  const details = receipt === undefined ? [] : [receipt];
  return ApplicationFailure.create({ message, type: code, nonRetryable: true, details });
}
