/**
 * Where decisions come in: signal `decide`, update `decide`, and every signal under another name. Total: whatever
 * arrives, the run goes on, and what changes nothing is refused by update and counted by signal (I4, I5).
 */
import {
  ApplicationFailure,
  defineSignal,
  defineUpdate,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import { decideName } from '../contract.ts';
import type { Receipt } from '../core/approval.ts';
import { maxDecisions, parseDecision } from '../core/decision.ts';
import type { ProblemCode } from '../core/problem.ts';
import { isUndecodable, sizeOf } from '../core/undecodable.ts';
import type { Book } from './book.ts';
import type { DeadlineWatch } from './deadline-watch.ts';

/** The second argument is the history event that brought the signal; the interceptor of `activation.ts` adds it. */
const decideSignal = defineSignal<[unknown, string?]>(decideName);
const decideUpdate = defineUpdate<Receipt | Receipt[], [unknown]>(decideName);

export function openDecisionDoor(book: Book, watch: DeadlineWatch): void {
  setHandler(decideSignal, (payload, eventId) => onSignal(payload, eventId ?? ''));
  setHandler(decideUpdate, onUpdate, { validator: validate });
  // A signal under any other name would be buffered in silence: record it instead.
  setDefaultSignalHandler((_name, ...payloads) => {
    const size = payloads.reduce<number>((sum, each) => sum + sizeOf(each), 0);
    book.refuse(payloads.some(isUndecodable) ? 'undecodable' : 'invalid_decision', size);
  });

  function onSignal(payload: unknown, eventId: string): void {
    try {
      if (isUndecodable(payload)) return book.refuse('undecodable', sizeOf(payload));
      const items: unknown[] = Array.isArray(payload) ? payload : [payload];
      if (items.length === 0 || items.length > maxDecisions) return book.refuse('invalid_decision', sizeOf(payload));
      for (const item of items) {
        const parsed = parseDecision(item);
        if ('problem' in parsed) book.refuse(parsed.problem.code, sizeOf(item));
        else if (!watch.park(parsed.decision, eventId)) book.decide(parsed.decision, Date.now());
      }
    } catch {
      book.refuse('internal', 0);
    }
  }

  /** Refuses before anything enters history. Validators do not run on replay: they change nothing. */
  function validate(payload: unknown): void {
    if (isUndecodable(payload)) throw failure('undecodable', `the decision could not be decoded: ${payload.why}`);
    if (Array.isArray(payload)) {
      if (payload.length > 0 && payload.length <= maxDecisions) return;
      throw failure('invalid_decision', `a list holds 1 to ${maxDecisions} decisions, not ${payload.length}`);
    }
    const parsed = parseDecision(payload);
    const receipt = 'problem' in parsed ? misshapen(parsed.problem) : book.preview(parsed.decision);
    if (receipt.code !== undefined) throw failure(receipt.code, receipt.message, receipt);
  }

  function onUpdate(payload: unknown): Receipt | Receipt[] {
    book.updates++;
    return Array.isArray(payload) ? payload.map((item) => settleOne(item)) : settleOne(payload);
  }

  function settleOne(payload: unknown): Receipt {
    const parsed = parseDecision(payload);
    if ('decision' in parsed) return book.decide(parsed.decision, Date.now());
    book.refuse(parsed.problem.code, sizeOf(payload));
    return misshapen(parsed.problem);
  }
}

function misshapen(problem: { code: ProblemCode; message: string }): Receipt {
  return { requestId: '', accepted: false, ...problem };
}

function failure(code: ProblemCode, message: string, receipt?: Receipt): ApplicationFailure {
  const details = receipt === undefined ? [] : [receipt];
  return ApplicationFailure.create({ message, type: code, nonRetryable: true, details });
}
