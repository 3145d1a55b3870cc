/**
 * The path of every message: decode → parse → order → deduplicate → authenticate → apply → answer. Handlers only fill
 * the queue (receive-messages.ts), which is processed once in each activation, in the order of history. A message is
 * applied completely before the next one; only the check of an edit lets others pass.
 */
import { decideName, activityNames } from '../../contract.ts';
import type { LateDecision, Receipt } from '../../core/ledger/approval.ts';
import { canonicalJsonProblem } from '../../core/base/canonical-json.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { Problem } from '../../core/base/problem.ts';
import { isUndecodable, sizeOf } from '../../core/base/undecodable.ts';
import type { Voter } from '../../core/people/entitlement.ts';
import { clock } from '../sandbox/clock.ts';
import type { Deadlines } from '../timing/deadlines.ts';
import { lookupsOfExecution, type GateState } from '../state/gate-state.ts';
import type { ScheduledTask } from '../state/scheduler.ts';
import { authenticate, claimed } from './authenticate.ts';
import { earlierReceipt, identityOf, keepReceipt, misusedId, type MessageIdentity } from './idempotency.ts';
import type { InFlight } from '../state/in-flight.ts';
import { acceptable, refused, tooManyLookups, type Lookup, type MessageKind } from './message-kind.ts';
import type { MessageQueue, Received } from './message-queue.ts';
import type { Sender } from '../../core/messages/sender.ts';
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Arbitrate } from '../../activities/recorded-events.ts';

/** The most lookups of one execution, which continues as new after half of them unless messages are in flight. */
const maxLookups = 2 * lookupsOfExecution;

const senderNotKnown: Problem = {
  code: 'internal',
  message: 'it is not known whether the sender of this message still counts: send it again',
};

export class MessagePipeline implements ScheduledTask {
  readonly #state: GateState;
  readonly #queue: MessageQueue;
  readonly #inFlight: InFlight;
  readonly #recorded: RecordedTimes;
  readonly #deadlines: Deadlines;
  readonly #ceiling: () => Policy | undefined;
  readonly #problemOfSender: (voter: Voter) => Promise<string | undefined>;

  constructor(parts: {
    state: GateState;
    queue: MessageQueue;
    inFlight: InFlight;
    recorded: RecordedTimes;
    deadlines: Deadlines;
    ceiling: () => Policy | undefined;
    problemOfSender: (voter: Voter) => Promise<string | undefined>;
  }) {
    this.#state = parts.state;
    this.#queue = parts.queue;
    this.#inFlight = parts.inFlight;
    this.#recorded = parts.recorded;
    this.#deadlines = parts.deadlines;
    this.#ceiling = parts.ceiling;
    this.#problemOfSender = parts.problemOfSender;
  }

  get isDue(): boolean {
    return this.#queue.hasChanges;
  }

  /** Applies what can be applied now, then handles the deadlines and steps that have become due. */
  run(): void {
    const nowMs = clock.nowMs;
    this.#queue.noteRun();
    this.#state.noteGrowth();
    // Messages about requests that are overdue by now may have come too late (`#sentAtMs`).
    this.#deadlines.look(nowMs);
    while (!this.#inFlight.blocks) {
      const received = this.#queue.next();
      if (received === undefined) break;
      this.#take(received);
    }
    if (!this.#inFlight.blocks) this.#deadlines.pass(nowMs);
  }

  /** Predicts the receipt of an update. A predicted refusal keeps the update out of history. Changes nothing (I4). */
  foresee(kind: MessageKind<unknown>, payload: unknown): Receipt {
    const found = read(kind, { payload });
    if ('problem' in found) return refused('', found.problem);
    // Accept an update while other messages wait, because they may change what it is judged by.
    if (!this.#queue.isOpen || !this.#queue.isEmpty || this.#inFlight.blocks) return acceptable;
    const { message } = found;
    const earlier = this.#earlier(identityOf(kind.name, message));
    // Accept a retry, so that it gets the first receipt.
    if (earlier !== undefined) return 'code' in earlier ? earlier : acceptable;
    const sender = claimed(kind.name, message, this.#ceiling(), this.#state);
    if ('problem' in sender) return refused(requestIdOf(message), sender.problem);
    const receipt = kind.preview(message, sender, clock.nowMs);
    // Accept a late decision, so that the journal records its sender: what is refused here enters no history.
    return this.#late(kind, message, sender, receipt) === undefined ? receipt : acceptable;
  }

  /** Refuses every waiting message. Call it in the activation that ends the run: its journal then has the refusals. */
  end(): void {
    this.#inFlight.endAll();
    for (let received = this.#queue.next(); received !== undefined; received = this.#queue.next()) {
      const message = 'the run ended before the messages ahead of this one were applied';
      this.#answer(received, refused(requestIdOf(received.payload), { code: 'run_closed', message }));
    }
  }

  /** Handles a message: it is answered, put back until its time is known, or waits for a lookup. */
  #take(received: Received): void {
    const { kind } = received;
    const found = read(kind, received);
    if ('problem' in found) return this.#answer(received, refused('', found.problem));
    const { message } = found;
    const atMs = this.#sentAtMs(received, message);
    if (atMs === undefined) return this.#queue.putBack(received);
    const identity = identityOf(kind.name, message);
    const earlier = this.#earlier(identity);
    if (earlier !== undefined) return this.#answerAs(received, earlier);
    const sender = claimed(kind.name, message, this.#ceiling(), this.#state);
    if ('problem' in sender) return this.#answer(received, refused(requestIdOf(message), sender.problem));
    // Verifying a signature is costly, so first refuse what would be refused even with a valid signature.
    const foreseen = kind.preview(message, sender, atMs);
    if (foreseen.code !== undefined) {
      return this.#answer(received, foreseen, undefined, this.#late(kind, message, sender, foreseen));
    }
    // A message that `#checkSender` has put back was authenticated before.
    const proven =
      received.checked === undefined ? authenticate(kind.name, message, this.#ceiling(), this.#state) : sender;
    if ('problem' in proven) return this.#answer(received, refused(requestIdOf(message), proven.problem));
    if (kind.loosens?.(message, proven, atMs) === true) {
      if (received.checked === undefined) return this.#checkSender(received, proven);
      // There is a problem only if no worker could answer: revoked senders were refused by `claimed` above.
      if (received.checked.problem !== undefined) return this.#answer(received, refused('', senderNotKnown));
    }
    const applied = kind.apply(message, proven, atMs);
    if (!('find' in applied)) this.#answer(received, applied, identity);
    else if (this.#isOutOfLookups && applied.isRequired !== true) {
      this.#answer(received, refused(requestIdOf(message), tooManyLookups));
    } else this.#lookUp(received, applied, requestIdOf(message), identity);
  }

  get #isOutOfLookups(): boolean {
    return this.#state.lookups >= maxLookups;
  }

  /** Asks a worker whether the sender of a message still counts. All messages wait for the answer, this one first. */
  #checkSender(received: Received, { voter }: Sender): void {
    if (this.#isOutOfLookups) return this.#answer(received, refused('', tooManyLookups));
    this.#queue.putBack(received);
    this.#state.noteCommand();
    this.#state.lookups++;
    const find = async (): Promise<() => Receipt> => {
      const problem = await this.#problemOfSender(voter).catch(() => senderNotKnown.message);
      return () => {
        received.checked = { problem };
        return acceptable;
      };
    };
    const conclude = (): void => this.#queue.noteChange();
    void this.#inFlight.keep({ ...noSender, blocks: true, conclude }, find());
  }

  /** Returns what the journal keeps of a decision that is refused as late; undefined for any other message. */
  #late(kind: MessageKind<unknown>, message: unknown, sender: Sender, receipt: Receipt): LateDecision | undefined {
    return receipt.code === 'expired' && this.#state.keepsLate ? kind.late?.(message, sender) : undefined;
  }

  /** Returns the time of a message; undefined while it must be read. An unknown time lets no call run (I2). */
  #sentAtMs({ kind, eventId, received }: Received, message: unknown): number | undefined {
    const receivedAtMs = received.atMs;
    const isDoubtful = kind.concerns(message).some((requestId) => this.#deadlines.isDoubtful(requestId, receivedAtMs));
    if (!isDoubtful || eventId === undefined) return receivedAtMs;
    const recordedAtMs = this.#recorded.of(eventId);
    if (recordedAtMs === Number.POSITIVE_INFINITY && kind.undatedAtMs !== undefined) {
      return kind.undatedAtMs(message);
    }
    if (recordedAtMs !== undefined) return recordedAtMs;
    this.#state.noteCommand();
    this.#recorded.read([eventId, ...this.#queue.eventIds]);
    return undefined;
  }

  /** Returns the receipt that the same message got before or, if that one is still in flight, its id. */
  #earlier(identity: MessageIdentity | undefined): Receipt | { inFlight: string } | undefined {
    if (identity === undefined) return undefined;
    const inFlight = this.#inFlight.find(identity.id);
    if (inFlight === undefined) return earlierReceipt(this.#state, identity);
    if (inFlight.digest === identity.digest) return { inFlight: identity.id };
    return misusedId(identity.id);
  }

  /** Answers a retry: with the earlier receipt or, if the first message is still in flight, together with that one. */
  #answerAs(received: Received, earlier: Receipt | { inFlight: string }): void {
    if (!('inFlight' in earlier)) return this.#answer(received, earlier);
    const first = this.#inFlight.find(earlier.inFlight)!;
    const { conclude } = first;
    first.conclude = (receipt) => {
      conclude(receipt);
      received.answer?.(receipt);
    };
  }

  /** Starts the lookup of a message, and answers the message with its result. */
  #lookUp(received: Received, lookup: Lookup, requestId: string, identity: MessageIdentity | undefined): void {
    this.#state.noteCommand();
    this.#state.lookups++;
    void this.#inFlight.keep(
      {
        id: identity?.id,
        digest: identity?.digest,
        blocks: lookup.blocks,
        holds: lookup.holds,
        conclude: (receipt) => {
          this.#queue.noteChange();
          this.#answer(received, receipt, identity);
        },
        failed: refused(requestId, { code: 'internal', message: lookup.failed }),
        ended: refused(requestId, { code: 'run_closed', message: lookup.ended }),
      },
      lookup.find(),
    );
  }

  /** Finishes a message: counts a refusal, else keeps the receipt for retries; answers the sender of an update. */
  #answer(received: Received, receipt: Receipt, identity?: MessageIdentity, late?: LateDecision): void {
    if (receipt.code !== undefined) {
      this.#state.refuse({
        code: receipt.code,
        requestId: receipt.requestId || undefined,
        ...late,
        size: sizeOf(received.payload),
      });
    } else if (identity !== undefined) keepReceipt(this.#state, identity, receipt);
    received.answer?.(receipt);
  }
}

/** For a lookup that the gate makes for itself: no sender repeats it, and none gets an answer if it fails. */
const noSender = { id: undefined, digest: undefined, holds: undefined, failed: acceptable, ended: acceptable };

/** Parses a message, or returns its problem. A message must have canonical JSON, of which its digest is made. */
function read(
  kind: MessageKind<unknown>,
  { payload, eventId }: Pick<Received, 'payload' | 'eventId'>,
): { message: unknown } | { problem: Problem } {
  if (isUndecodable(payload)) {
    return { problem: { code: payload.code, message: `the message could not be decoded: ${payload.why}` } };
  }
  // Parsing would make each byte a property of an object; some megabytes would take longer than a task may (I5).
  if (ArrayBuffer.isView(payload))
    return { problem: { code: 'undecodable', message: 'the message is bytes, not JSON' } };
  const found = kind.parse(payload, eventId);
  const problem = 'problem' in found ? undefined : canonicalJsonProblem(found.message);
  if (problem === undefined) return found;
  return { problem: { code: kind.name === decideName ? 'invalid_decision' : 'invalid_message', message: problem } };
}

function requestIdOf(message: unknown): string {
  const { requestId } = (message ?? {}) as { requestId?: unknown };
  return typeof requestId === 'string' ? requestId : '';
}

const arbitrate = proxyActivities<{ [activityNames.arbitrate]: Arbitrate }>({
  startToCloseTimeout: '30s',
  summary: 'Read when messages were recorded',
})[activityNames.arbitrate];

/** Reads when the server recorded signals that came close to a deadline (I6). The queue waits meanwhile. */
export class RecordedTimes {
  readonly #inFlight: InFlight;
  readonly #onRead: () => void;
  readonly #atMs = new Map<string, number>();

  constructor(inFlight: InFlight, onRead: () => void) {
    this.#inFlight = inFlight;
    this.#onRead = onRead;
  }

  /** The recorded time of a signal; undefined if it has not been read yet; infinity if it could not be read. */
  of(eventId: string): number | undefined {
    return this.#atMs.get(eventId);
  }

  /** Reads all times in one activity, because the messages behind the first one may be late too. */
  read(eventIds: string[]): void {
    const find = async (): Promise<Record<string, number>> =>
      arbitrate({ runId: workflowInfo().runId, eventIds }).catch(() => ({}));
    void this.#inFlight.keep(
      { ...noSender, blocks: true, conclude: this.#onRead },
      find().then((recorded) => () => {
        for (const eventId of eventIds) {
          const recordedAtMs = recorded[eventId];
          this.#atMs.set(eventId, recordedAtMs ?? Number.POSITIVE_INFINITY);
          // The server's time of an earlier event: the run's clock must not be behind it.
          if (recordedAtMs !== undefined) clock.prove(recordedAtMs);
        }
        return acceptable;
      }),
    );
  }
}
