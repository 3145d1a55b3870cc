import { condition, isCancellation, proxyActivities, sleep } from '@temporalio/workflow';
import type { ChannelCalls, LastSent } from '../../channels/activities/call-channel.ts';
import type { LookedChannel, RequestFacts } from '../../channels/activities/look-at-requests.ts';
import type { ChannelStep } from '../../channels/channel.ts';
import { activityNames } from '../../contract.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { clock } from '../sandbox/clock.ts';
import { backoffMs } from '../timing/backoff.ts';
import type { ChannelMessage } from './tracked.ts';
import { Failures, failureReason, isRefused } from './failures.ts';
import { type Notified, Notifier } from './notifier.ts';

type Calls = { [activityNames.channelSettled]: ChannelCalls['settled'] };

const { [activityNames.channelSettled]: settled } = proxyActivities<Calls>({
  startToCloseTimeout: '60s',
  heartbeatTimeout: '30s',
  retry: { maximumAttempts: 5, initialInterval: '1s', backoffCoefficient: 3 },
});

/** A step of a request, identified by `kind` and `dueAt`. For `user_wrote`, `dueAt` is the number of user messages. */
export interface DueStep extends ChannelStep {
  dueAt: string;
}

/** A step that waits until the quiet hours end and its request is sent. */
export interface Later {
  requestId: string;
  channel: string;
  step: DueStep;
  dueMs: number;
  /** How many calls about the step failed. */
  interrupted?: number;
  /** True: the message about the step has reached some of the channel's people. */
  isPartlySent?: true;
}

/** Settled requests that are reported to a channel again, because an earlier report failed. */
export interface Unsettled {
  channel: string;
  settledIds: string[];
  dueMs: number;
  untilMs: number;
  failed: number;
}

/** What was sent, and what is still to be sent. Carried through continue-as-new. */
export interface MessagesState {
  messages: ChannelMessage[];
  later?: Later[];
  unsettled?: Unsettled[];
}

/** The most steps that wait. Any client can signal steps, and continue-as-new carries all in one payload. */
const mostLater = 100;
/** How long a failed report of a settlement is repeated. Without an end, a channel that is gone would fill history. */
const settlesForMs = 7 * 86_400_000;
/** The most reports of settlements that wait, because continue-as-new carries them all in one payload. */
const mostUnsettled = 1_000;
/** A request joins a waiting message of several requests only if that delays the request by at most this time. */
const joinsWithinMs = 60_000;

/** Sends messages about the requests of a run. Calls about one message are made one after another. */
export class ChannelMessages {
  readonly #workflowId: string;
  readonly #notifier: Notifier;
  readonly #changed: () => void;
  #messages: ChannelMessage[] = [];
  readonly #calls = new Map<ChannelMessage, Promise<void>>();
  readonly #failures = new Failures();
  /** Messages that a timer will send. */
  readonly #timed = new Set<ChannelMessage>();
  /** For each message: the settled requests that its next call reports. */
  readonly #settling = new Map<ChannelMessage, string[]>();
  /** For each message: the open requests for which its next call reports that the user has written. */
  readonly #written = new Map<ChannelMessage, string[]>();
  readonly #later = new Set<Later>();
  readonly #unsettled = new Set<Unsettled>();
  #running = 0;

  constructor(workflowId: string, changed: () => void) {
    this.#workflowId = workflowId;
    this.#notifier = new Notifier(workflowId);
    this.#changed = changed;
  }

  restore({ messages, later = [], unsettled = [] }: MessagesState): void {
    this.#messages = [...messages];
    this.send();
    for (const each of later) void this.#queueLater(each);
    for (const each of unsettled) void this.#settleLater(each);
  }

  /** Returns the state for continue-as-new. Leaves out messages that can change no more, as their requests ended. */
  state(isTracked: (requestId: string) => boolean): MessagesState {
    const unsettled = [...this.#unsettled];
    const isNeeded = (id: string): boolean =>
      isTracked(id) || unsettled.some(({ settledIds }) => settledIds.includes(id));
    const messages = this.#messages.filter(({ requestIds }) => requestIds.some(isNeeded));
    return { messages, later: [...this.#later], unsettled };
  }

  get isPatient(): boolean {
    return this.#notifier.isPatient;
  }

  /** Cancels the calls that the server retries. They are made again a little later, here or in the next execution. */
  interrupt(): void {
    this.#notifier.interrupt();
  }

  get isQuiet(): boolean {
    return this.#running === 0;
  }

  get isIdle(): boolean {
    return this.isQuiet && this.#later.size + this.#unsettled.size === 0 && !this.#messages.some(isCollecting);
  }

  sentOf(requestId: string, channel: string): Json | undefined {
    return this.#messageOf(requestId, channel)?.sent;
  }

  /** Returns false as long as the request must still be sent to the channel. */
  isNotified(requestId: string, channel: string): boolean {
    const message = this.#messageOf(requestId, channel);
    return message?.isSent !== false || message.isOver;
  }

  /** Returns how far the delivery of a request to a channel is. A number is the time until which the request waits. */
  progress(requestId: string, channel: string): 'delivered' | 'sending' | 'failing' | number {
    const message = this.#messageOf(requestId, channel);
    if (message === undefined || message.isSent) return 'delivered';
    if (message.interrupted !== undefined || message.isOver) return 'failing';
    return message.dueMs ?? 'sending';
  }

  failures(requestId: string): string[] {
    return this.#failures.of(requestId);
  }

  /** Prepares the message about a request, for `send`. A channel with `batch` gets one message for several requests. */
  ask(requestId: string, { name, batch, settles, delayMs }: LookedChannel): void {
    if (this.#messageOf(requestId, name) !== undefined) return;
    const dueMs = clock.nowMs + delayMs;
    // A request that may be sent now must not wait with others for the end of the quiet hours.
    const joins = (each: ChannelMessage): boolean =>
      each.channel === name &&
      each.dueMs !== undefined &&
      each.dueMs <= dueMs + joinsWithinMs &&
      each.interrupted === undefined;
    const open = batch ? this.#messages.find(joins) : undefined;
    if (open !== undefined) open.requestIds.push(requestId);
    else this.#messages.push({ channel: name, requestIds: [requestId], isSent: false, isOver: false, settles, dueMs });
  }

  send(): void {
    for (const each of this.#messages) if (isCollecting(each) && !this.#timed.has(each)) void this.#sendWhenDue(each);
  }

  /** Reports a step of a request to a channel, now or after its delay. Skips steps that people do not need. */
  remind(requestId: string, { name: channel, delayMs }: LookedChannel, step: DueStep): void {
    const message = this.#messageOf(requestId, channel);
    if (message === undefined) return;
    // Before the request itself is sent, an escalation waits, and other steps are skipped.
    if (isUnsent(message) && step.kind !== 'escalated') return;
    if (step.kind === 'reminded' && this.#isToBeReminded(requestId, channel)) return;
    const later = { requestId, channel, step, dueMs: clock.nowMs + delayMs };
    if (delayMs === 0 && (!isCollecting(message) || message.isSent)) this.#remind(message, later);
    else void this.#queueLater(later);
  }

  /** True if another message is on its way that reminds of the request: a waiting reminder, or a call with retries. */
  #isToBeReminded(requestId: string, channel: string): boolean {
    const isSame = (each: Later): boolean =>
      each.requestId === requestId && each.channel === channel && each.step.kind === 'reminded';
    return [...this.#later].some(isSame) || this.#notifier.repeats(requestId, channel);
  }

  /** Queues a step once it is due and its request is sent: a wait in the queue would delay others. Drops too many. */
  async #queueLater(later: Later): Promise<void> {
    if (this.#later.size >= mostLater) return;
    this.#later.add(later);
    const message = this.#messageOf(later.requestId, later.channel);
    const isReady = await completes(async () => {
      if (later.dueMs > clock.nowMs) await sleep(later.dueMs - clock.nowMs);
      await condition(() => message === undefined || !isCollecting(message) || message.isSent);
    });
    if (isReady && this.#later.delete(later) && message !== undefined) this.#remind(message, later);
  }

  /** Queues a step, such as a reminder, for a message of a channel. A failed one is queued again for later. */
  #remind(message: ChannelMessage, later: Later): void {
    const { requestId, interrupted: failed = 0, isPartlySent } = later;
    const { dueAt, ...step } = later.step;
    const name = `${requestId}:${step.kind}:${dueAt}`;
    const notifyStep = async (requestIds: string[]): Promise<Notified> => {
      const notified = await this.#notify(message, { requestIds, step, name, failed, isPartlySent });
      if (notified.state !== 'again') return notified;
      const dueMs = clock.nowMs + notified.afterMs;
      const partly = notified.isPartlySent && { isPartlySent: true as const };
      for (const each of notified.requestIds) {
        void this.#queueLater({ ...later, interrupted: failed + 1, dueMs, ...partly, requestId: each });
      }
      return notified;
    };
    // A new message of the user concerns all open requests of the run, so one call reports it for all of them.
    if (step.kind === 'user_wrote') this.#queueTogether(this.#written, message, requestId, notifyStep);
    else this.#queue(message, requestId, () => notifyStep([requestId]));
  }

  /** Reports a settlement, and drops what was not sent yet. `gone`: the facts of a request that the run has lost. */
  settle(requestId: string, channels: readonly string[], gone?: RequestFacts): void {
    for (const channel of channels) this.#takeOut(requestId, channel);
    this.drop(requestId, channels);
    for (const channel of channels) {
      const message = this.#messageOf(requestId, channel);
      if (message?.settles !== true) continue;
      if (gone !== undefined) message.gone = { ...message.gone, [requestId]: gone };
      this.#queueTogether(this.#settling, message, requestId, (ids) => this.#settled(message, ids));
    }
  }

  /** Drops unsent messages, and ends retries. Returns the channels to which the request itself was not sent. */
  drop(requestId: string, channels: readonly string[]): string[] {
    for (const each of this.#later) {
      if (each.requestId === requestId && channels.includes(each.channel)) this.#later.delete(each);
    }
    this.#notifier.stop(requestId, channels);
    return channels.filter((channel) => {
      const message = this.#messageOf(requestId, channel);
      if (message === undefined || !isCollecting(message)) return false;
      message.requestIds = message.requestIds.filter((id) => id !== requestId);
      // An empty message is not sent, and does not keep this workflow waiting until the quiet hours end.
      this.#messages = this.#messages.filter(({ requestIds }) => requestIds.length > 0);
      return true;
    });
  }

  /** Moves a request whose first call failed to a message of its own. That call may have reached people after all. */
  #takeOut(requestId: string, channel: string): void {
    const message = this.#messageOf(requestId, channel);
    if (message?.interrupted === undefined || !isCollecting(message)) return;
    const { settles, isSent } = message;
    this.drop(requestId, [channel]);
    this.#messages.push({ channel, requestIds: [requestId], isSent, isOver: true, settles });
  }

  /** Queues one call about several requests. Requests that are added before the call begins join it. */
  #queueTogether(
    requestsByMessage: Map<ChannelMessage, string[]>,
    message: ChannelMessage,
    requestId: string,
    call: (requestIds: string[]) => Promise<CallResult>,
  ): void {
    const waiting = requestsByMessage.get(message);
    if (waiting !== undefined) {
      if (!waiting.includes(requestId)) waiting.push(requestId);
      return;
    }
    const requestIds = [requestId];
    requestsByMessage.set(message, requestIds);
    this.#queue(message, requestId, () => {
      requestsByMessage.delete(message);
      return call(requestIds);
    });
  }

  #messageOf(requestId: string, channel: string): ChannelMessage | undefined {
    return this.#messages.find((each) => each.channel === channel && each.requestIds.includes(requestId));
  }

  /** Sends a message with all its requests when it is due. A failed message is sent again later. */
  async #sendWhenDue(message: ChannelMessage): Promise<void> {
    this.#timed.add(message);
    const delayMs = message.dueMs! - clock.nowMs;
    if (delayMs > 0 && !(await completes(() => sleep(delayMs)))) return;
    this.#timed.delete(message);
    delete message.dueMs;
    const [first] = message.requestIds;
    if (first === undefined) return;
    this.#queue(message, first, async () => {
      // A message that was sent and is due again has perhaps reached some people.
      const { interrupted: failed = 0, isSent: isPartlySent, requestIds } = message;
      const step = { kind: 'asked' } as const;
      const call = { requestIds, step, name: `${first}:asked`, failed, isPartlySent };
      const notified = await this.#notify(message, call);
      if (notified.state === 'again') {
        message.interrupted = failed + 1;
        message.dueMs = clock.nowMs + notified.afterMs;
        this.send();
      } else message.isOver = true;
      return notified;
    });
  }

  async #notify(message: ChannelMessage, { name, isPartlySent, failed, ...call }: Call): Promise<Notified> {
    const { channel, sent } = message;
    const about = { channel, sent, key: `${channel}:${name}`, ...call, ...(failed > 0 && { failed }) };
    const notified = await this.#notifier.notify({ ...about, isPartlySent: isPartlySent === true });
    if (notified.state === 'sent' || (notified.state === 'again' && notified.isPartlySent)) message.isSent = true;
    return notified;
  }

  /** Reports settlements. After a failure, throws and reports them again later, unless the channel refused them. */
  async #settled(message: ChannelMessage, settledIds: string[], failedBefore?: Unsettled): Promise<LastSent> {
    const { channel, sent, gone } = message;
    const others = message.requestIds.filter((id) => !settledIds.includes(id));
    const requestIds = [...settledIds, ...others];
    const key = `${channel}:${settledIds[0]!}:settled`;
    const call = { channel, workflowId: this.#workflowId, requestIds, settledIds, sent, key, ...(gone && { gone }) };
    try {
      return await settled.executeWithOptions({ summary: `${channel}: settled` }, [call]);
    } catch (error) {
      if (!isRefused(error)) {
        const { failed = 0, untilMs = clock.nowMs + settlesForMs } = failedBefore ?? {};
        const dueMs = clock.nowMs + backoffMs(failed);
        void this.#settleLater({ channel, settledIds, dueMs, untilMs, failed: failed + 1 });
      }
      throw error;
    }
  }

  /** Queues a failed report again once it is due: a wait in the queue would delay others. Gives up after `untilMs`. */
  async #settleLater(unsettled: Unsettled): Promise<void> {
    const { channel, settledIds, dueMs, untilMs } = unsettled;
    const [first] = settledIds;
    const message = this.#messageOf(first!, channel);
    if (message === undefined || dueMs > untilMs || this.#unsettled.size >= mostUnsettled) return;
    this.#unsettled.add(unsettled);
    if (dueMs > clock.nowMs && !(await completes(() => sleep(dueMs - clock.nowMs)))) return;
    this.#unsettled.delete(unsettled);
    this.#queue(message, first!, () => this.#settled(message, settledIds, unsettled));
  }

  /** Queues a call about a message. A failure is noted and does not stop the calls after it. */
  #queue(message: ChannelMessage, requestId: string, call: () => Promise<CallResult>): void {
    const callsBefore = this.#calls.get(message) ?? Promise.resolve();
    this.#running += 1;
    const next = callsBefore.then(async () => {
      try {
        const { sent, why } = await call();
        if (sent !== undefined) message.sent = sent;
        if (why !== undefined) this.#failures.note(requestId, `${message.channel}: ${why}`);
      } catch (error) {
        this.#failures.note(requestId, `${message.channel}: ${failureReason(error)}`);
      }
      this.#running -= 1;
      this.#changed();
    });
    this.#calls.set(message, next);
  }
}

/** A call of `notify`. A repeated call has the same `name`, by which its receiver recognizes the message. */
interface Call {
  requestIds: string[];
  step: ChannelStep;
  name: string;
  failed: number;
  isPartlySent?: boolean;
}

interface CallResult extends LastSent {
  why?: string;
}

/** True while the request has not reached any of the channel's people and is still to be sent. */
function isUnsent(message: ChannelMessage): boolean {
  const { isSent, isOver, interrupted } = message;
  if (isSent) return false;
  return isCollecting(message) || (!isOver && interrupted !== undefined);
}

function isCollecting({ dueMs }: ChannelMessage): boolean {
  return dueMs !== undefined;
}

/** Resolves to true after the wait; to false if the workflow is cancelled, because an error would fail its task. */
async function completes(wait: () => Promise<unknown>): Promise<boolean> {
  try {
    await wait();
    return true;
  } catch (error) {
    if (isCancellation(error)) return false;
    throw error;
  }
}
