import type { Voter } from '../../core/people/entitlement.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { PolicyChange } from '../../core/policy/run-side.ts';
import { Deadlines } from '../timing/deadlines.ts';
import { EscalationSteps } from '../timing/escalation-steps.ts';
import type { GateState } from '../state/gate-state.ts';
import type { ActivePolicies } from '../state/active-policies.ts';
import { closeMessages } from './close.ts';
import { decideMessages } from './decide.ts';
import { delegateMessages, extendMessages } from './extend-and-delegate.ts';
import { registerSignal, registerUpdate, rejectUnknownSignals } from './handlers.ts';
import { answerReceipts } from './idempotency.ts';
import { InFlight } from '../state/in-flight.ts';
import type { MessageKind } from './message-kind.ts';
import { MessageQueue } from './message-queue.ts';
import { parentsChangedMessages } from './parents-changed.ts';
import { MessagePipeline } from './pipeline.ts';
import { RecordedTimes } from './recorded-times.ts';
import { revokeMessages } from './revoke.ts';
import { setPolicyMessages } from './set-policy.ts';
import { type UserMessageTaker, userMessages } from './user-message.ts';

/** The effects of messages on the gate beyond its ledger. */
export interface MessageEffects {
  /** The active policies. */
  policies: () => ActivePolicies;
  /** Puts the run under the policy that was sent. */
  change: (change: PolicyChange) => void;
  /** Puts a nested run under the policies that bind the run above it now. */
  inherit: (parents: Policy[]) => void;
  /** Called when the run is closed. */
  close: () => void;
  /** Asks a worker why the sender of a message counts no more by the operator's present policy. */
  problemOfSender: (voter: Voter) => Promise<string | undefined>;
  /** Absent: `message` is a name like any other, and a workflow may have its own signal of this name. */
  taker?: UserMessageTaker;
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

/** Registers a handler for every message that a run takes, and creates the pipeline that applies them. */
export function receiveMessages(
  state: GateState,
  { policies, change, inherit, close, taker, problemOfSender, refuseUnknownSignals }: MessageEffects,
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
    decideMessages(state, inFlight, policies, () => taker?.unheard.length ?? 0),
    extendMessages(state, policies),
    delegateMessages(state),
    revokeMessages(state, policies),
    setPolicyMessages(state, policies, change),
    ...(taker === undefined ? [] : [userMessages(state, taker, noteChange)]),
  ];
  const parentsChanged = parentsChangedMessages(state, policies, inherit);
  const signals = [closeMessages(state, close), ...(parentsChanged === undefined ? [] : [parentsChanged])];
  for (const kind of [...signalsAndUpdates, ...signals]) registerSignal(kind, queue);
  for (const kind of signalsAndUpdates) registerUpdate(kind, queue, pipeline, state);
  if (refuseUnknownSignals) rejectUnknownSignals(queue);
  answerReceipts(state);
  return { queue, inFlight, deadlines, escalation, pipeline };
}
