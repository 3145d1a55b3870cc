/** Registers the handlers of signals and updates. They only put messages into the queue (pipeline.ts). */
import {
  ApplicationFailure,
  defineSignal,
  defineUpdate,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import type { Receipt } from '../../core/ledger/approval.ts';
import { maxDecisions } from '../../core/messages/decision.ts';
import { Undecodable, isUndecodable } from '../../core/base/undecodable.ts';
import { clock } from '../sandbox/clock.ts';
import type { GateState } from '../state/gate-state.ts';
import type { MessageKind } from './message-kind.ts';
import { acceptable, refused } from './message-kind.ts';
import { maxWaiting, type MessageQueue } from './message-queue.ts';
import type { MessagePipeline } from './pipeline.ts';

/** The handler's second argument is the history event id of the signal; interceptors.ts adds it. */
export function registerSignal(kind: MessageKind<unknown>, queue: MessageQueue): void {
  setHandler(defineSignal<[unknown, string?]>(kind.name), (payload, eventId = '') => {
    const isTooMuch = queue.isFull && isList(kind, payload);
    const items = isTooMuch ? [new Undecodable(payload.length, tooMany)] : itemsOf(kind, payload);
    for (const item of items) queue.add({ kind, payload: item, eventId, received: clock.moment });
  });
}

export function registerUpdate(
  kind: MessageKind<unknown>,
  queue: MessageQueue,
  pipeline: MessagePipeline,
  state: GateState,
): void {
  const receive = (payload: unknown): Promise<Receipt> =>
    new Promise((answer) => {
      queue.add({ kind, payload, received: clock.moment, answer });
    });

  setHandler(
    defineUpdate<Receipt | Receipt[], [unknown]>(kind.name),
    async (payload) => {
      state.updates++;
      if (isList(kind, payload)) return Promise.all(payload.map(receive));
      const receipt = await receive(payload);
      throwRefused(receipt);
      return receipt;
    },
    // Refuses before anything enters history. Validators do not run on replay, so they change nothing.
    {
      validator: (payload) => {
        if (!isList(kind, payload)) return throwRefused(pipeline.foresee(kind, payload));
        if (payload.length > 0 && payload.length <= maxDecisions) {
          return throwAllRefused(payload.map((item) => pipeline.foresee(kind, item)));
        }
        const message = `a list holds 1 to ${maxDecisions} decisions, not ${payload.length}`;
        throwRefused(refused('', { code: 'invalid_decision', message }));
      },
    },
  );
}

const tooMany = `more than ${maxWaiting} messages came at once: send it again`;

/** Temporal silently buffers a signal without a handler. Count it as refused instead. */
export function rejectUnknownSignals(queue: MessageQueue): void {
  setDefaultSignalHandler((_name, ...payloads) => {
    const unread = payloads.find((each) => isUndecodable(each) || ArrayBuffer.isView(each));
    const payload = unread ?? (payloads.length > 1 ? payloads : payloads[0]);
    queue.add({ kind: unknownSignals, payload, eventId: '', received: clock.moment });
  });
}

const unknownSignals: MessageKind<unknown> = {
  name: 'unknown',
  parse: () => ({
    problem: { code: 'invalid_message', message: 'this run has no handler for a signal of this name' },
  }),
  concerns: () => [],
  preview: () => acceptable,
  apply: () => acceptable,
};

function isList({ takesLists }: MessageKind<unknown>, payload: unknown): payload is unknown[] {
  return takesLists === true && Array.isArray(payload);
}

/** The messages of a payload. A list of the wrong length stays whole and is refused when it is parsed. */
function itemsOf(kind: MessageKind<unknown>, payload: unknown): unknown[] {
  const isTaken = isList(kind, payload) && payload.length > 0 && payload.length <= maxDecisions;
  return isTaken ? payload : [payload];
}

function throwRefused(receipt: Receipt): void {
  throwAllRefused([receipt]);
}

/** Throws if no message of an update counts. The failure has the code of the first refusal, and every receipt. */
function throwAllRefused(receipts: Receipt[]): void {
  const { message: sentence, code: type } = receipts[0]!;
  if (receipts.some(({ code }) => code === undefined)) return;
  const message = receipts.length === 1 ? sentence : `none of the ${receipts.length} counts; the first: ${sentence}`;
  throw ApplicationFailure.create({ message, type, nonRetryable: true, details: receipts });
}
