import type { Voter } from '../../core/people/entitlement.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { PolicyChange } from '../../core/policy/run-side.ts';
import { Deadlines, EscalationSteps } from '../timing/deadlines.ts';
import type { GateState } from '../state/gate-state.ts';
import type { ActivePolicies } from '../state/active-policies.ts';
import { decideMessages, inTimeIfRuns } from './decide.ts';
import { answerReceipts } from './idempotency.ts';
import { InFlight } from '../state/in-flight.ts';
import { type MessageKind, acceptable, refused } from './message-kind.ts';
import { MessageQueue, maxWaiting } from './message-queue.ts';
import { parentsChangedMessages, revokeMessages, setPolicyMessages } from './policy-messages.ts';
import { MessagePipeline, RecordedTimes } from './pipeline.ts';
import { type UserMessageHandler, userMessages } from './user-message.ts';
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
import { messageNames } from '../../contract.ts';
import type { CloseMessage, DelegateMessage, ExtendMessage } from '../../core/messages/control.ts';
import { readClose, instantMs, readDelegate, readExtend } from '../../core/messages/control.ts';
import type { Sender } from '../../core/messages/sender.ts';
import { latestDeadlineMs } from '../../core/ledger/extend-and-delegate.ts';
import { requestOf, type LedgerCommand } from '../../core/ledger/ledger.ts';

export interface MessageEffects {
  policies: () => ActivePolicies;
  change: (change: PolicyChange) => void;
  inherit: (parents: Policy[]) => void;
  close: () => void;
  problemOfSender: (voter: Voter) => Promise<string | undefined>;
  /** Absent: the gate registers no message `message`, so a workflow may have its own signal of this name. */
  session?: UserMessageHandler;
  /** True: signals that have no handler are refused and counted. False: Temporal keeps them for a later handler. */
  refuseUnknownSignals: boolean;
}

export interface Messages {
  queue: MessageQueue;
  inFlight: InFlight;
  deadlines: Deadlines;
  escalation: EscalationSteps;
  pipeline: MessagePipeline;
}

/** Builds the parts through which messages pass, and registers a handler for each kind of message. */
export function receiveMessages(
  state: GateState,
  { policies, change, inherit, close, session, problemOfSender, refuseUnknownSignals }: MessageEffects,
): Messages {
  const queue = new MessageQueue();
  const inFlight = new InFlight();
  const noteChange = (): void => queue.noteChange();
  const escalation = new EscalationSteps(state, inFlight);
  const deadlines = new Deadlines(state, inFlight, escalation, noteChange);
  const recorded = new RecordedTimes(inFlight, noteChange);
  const ceiling = (): Policy | undefined => policies().policies.ceiling;
  const pipeline = new MessagePipeline({ state, queue, inFlight, recorded, deadlines, ceiling, problemOfSender });
  const signalsAndUpdates: MessageKind<unknown>[] = [
    // Without a session, no message of a user can be newer than a card.
    decideMessages(state, inFlight, policies, () => session?.unheard.length ?? 0),
    extendMessages(state, policies),
    delegateMessages(state),
    revokeMessages(state, policies),
    setPolicyMessages(state, policies, change),
    ...(session === undefined ? [] : [userMessages(state, session, noteChange)]),
  ];
  const parentsChanged = parentsChangedMessages(state, policies, inherit);
  // These two are no updates: a closed run ends before it could answer, and a parent workflow can send only signals.
  const signals = [closeMessages(state, close), ...(parentsChanged === undefined ? [] : [parentsChanged])];
  for (const kind of [...signalsAndUpdates, ...signals]) registerSignal(kind, queue);
  for (const kind of signalsAndUpdates) registerUpdate(kind, queue, pipeline, state);
  if (refuseUnknownSignals) rejectUnknownSignals(queue);
  answerReceipts(state);
  return { queue, inFlight, deadlines, escalation, pipeline };
}

// Registers the handlers of signals and updates. They only put messages into the queue (pipeline.ts).

/** Registers the signal of a kind of message. `interceptors.ts` adds the event id as the handler's second argument. */
export function registerSignal(kind: MessageKind<unknown>, queue: MessageQueue): void {
  setHandler(defineSignal<[unknown, string?]>(kind.name), (payload, eventId = '') => {
    const isTooMuch = queue.isFull && isList(kind, payload);
    const items = isTooMuch ? [new Undecodable(payload.length, tooMany)] : itemsOf(kind, payload);
    for (const item of items) queue.add({ kind, payload: item, eventId, received: clock.moment });
  });
}

/** Registers the update of a kind of message. If the validator foresees a refusal, nothing enters history. */
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
    // Refuses before anything enters history. It must change nothing, because validators do not run on replay.
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

/** Counts each signal that has no handler as refused. Temporal alone would keep it for a later handler, silently. */
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

/** Returns the messages of a payload. A list of the wrong length stays whole, and parsing it refuses it. */
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

/** Signal `close`: cancels everything open. `onClose` then makes the workflow end. */
export function closeMessages(state: GateState, onClose: () => void): MessageKind<CloseMessage> {
  return {
    name: messageNames.close,
    parse: readClose,
    concerns: () => [],
    preview: () => {
      if (state.closing === undefined) return acceptable;
      return refused('', { code: 'run_closed', message: 'the run was closed already' });
    },
    apply: ({ by, reason }) => {
      state.closing = reason ?? `the run was closed${by === undefined ? '' : ` by ${by}`}`;
      state.cancelOpen(state.closing);
      onClose();
      return { requestId: '', accepted: true, message: state.closing };
    },
  };
}

// Messages `extend` and `delegate`: more time for a request, another reviewer for a seat.

function extendMessages(state: GateState, policies: () => ActivePolicies): MessageKind<ExtendMessage> {
  const messages = ofOneRequest(state, messageNames.extend, readExtend, (message, atMs, { voter }) => {
    const found = requestOf(state.ledger, message.requestId);
    const latestMs = found === undefined ? null : latestDeadlineMs(found, policies().policies);
    return { kind: 'extend', atMs, ...aboutOne(message), untilMs: instantMs(message.until)!, latestMs, voter };
  });
  return { ...messages, undatedAtMs: ({ requestId }) => inTimeIfRuns(state, requestId) };
}

function delegateMessages(state: GateState): MessageKind<DelegateMessage> {
  return ofOneRequest(state, messageNames.delegate, readDelegate, (message, atMs, { voter, operator }) => {
    const { to, from } = message;
    return { kind: 'delegate', atMs, ...aboutOne(message), to, voter, ...(from !== undefined && { from, operator }) };
  });
}

/** Returns how to handle a message that changes one request by one command of the ledger. */
function ofOneRequest<Message extends ExtendMessage | DelegateMessage>(
  state: GateState,
  name: string,
  parse: MessageKind<Message>['parse'],
  commandOf: (message: Message, atMs: number, sender: Sender) => LedgerCommand,
): MessageKind<Message> {
  return {
    name,
    parse,
    concerns: ({ requestId }) => [requestId],
    preview: (message, sender, atMs) => state.preview(commandOf(message, atMs, sender)),
    apply: (message, sender, atMs) => state.answer(commandOf(message, atMs, sender)),
  };
}

function aboutOne({ requestId, reason }: ExtendMessage | DelegateMessage): { requestId: string; reason?: string } {
  return { requestId, reason };
}
