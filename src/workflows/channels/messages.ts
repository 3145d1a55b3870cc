import { condition, isCancellation, patched, proxyActivities, sleep } from '@temporalio/workflow';
import type { AnnouncedStep } from '../../activities/announce.ts';
import type { ChannelCalls, Sent } from '../../channels/activities/call-channel.ts';
import type { LookedChannel } from '../../channels/activities/look-at-requests.ts';
import type { ChannelStep } from '../../channels/channel.ts';
import { activityNames } from '../../contract.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { Failures, reasonOf } from './failures.ts';

type Calls = {
  [activityNames.channelNotify]: ChannelCalls['notify'];
  [activityNames.channelSettled]: ChannelCalls['settled'];
};

const { [activityNames.channelNotify]: notify, [activityNames.channelSettled]: settled } = proxyActivities<Calls>({
  startToCloseTimeout: '60s',
  heartbeatTimeout: '30s',
  retry: { maximumAttempts: 5, initialInterval: '1s', backoffCoefficient: 3 },
});

/** A message of a channel, which may be about several requests of the run. */
export interface Message {
  channel: string;
  requestIds: string[];
  /** What `notify` returned last. */
  sent?: Json;
  /** True once a call of `notify` has returned. False does not mean that nobody was reached. */
  isSent: boolean;
  /** True once the first call of `notify` has returned or failed for good. */
  isOver: boolean;
  /** True if the channel says how a request was settled. */
  settles: boolean;
}

interface Collecting {
  message: Message;
  delayMs: number;
  /** Workflow time. */
  dueMs: number;
  /** True once a timer for that time is set. */
  isWaiting: boolean;
}

/** A request joins a message only if that delays the request by at most this time. */
const joinsWithinMs = 60_000;

/** What was sent about the requests of a run. Calls about one message are made one after another. */
export class Messages {
  readonly #workflowId: string;
  #messages: Message[] = [];
  readonly #calls = new Map<Message, Promise<void>>();
  readonly #failures = new Failures();
  /** Messages that collect requests until they are sent. */
  #collecting: Collecting[] = [];
  /** Reminders that wait for the end of the quiet hours. */
  readonly #later = new Set<{ requestId: string }>();
  #running = 0;

  constructor(workflowId: string) {
    this.#workflowId = workflowId;
  }

  restore(messages: readonly Message[]): void {
    this.#messages = [...messages];
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#collecting.length === 0 && this.#later.size === 0;
  }

  /** The messages about tracked requests. The others do not change any more. */
  about(isTracked: (requestId: string) => boolean): Message[] {
    return this.#messages.filter(({ requestIds }) => requestIds.some(isTracked));
  }

  sentOf(requestId: string, channel: string): Json | undefined {
    return this.#of(requestId, channel)?.sent;
  }

  /** False while the channel is still to be told of the request. */
  isTold(requestId: string, channel: string): boolean {
    return this.#of(requestId, channel)?.isOver !== false;
  }

  failures(requestId: string): string[] {
    return this.#failures.of(requestId);
  }

  /** Adds a request to a message that `send` will send. A channel with `batch` gets one message for several requests. */
  ask(requestId: string, { name, batch, settles, delayMs }: LookedChannel): void {
    const dueMs = Date.now() + delayMs;
    // An urgent request does not join a message that waits for the end of the quiet hours.
    const joins = (each: Collecting): boolean => each.message.channel === name && each.dueMs <= dueMs + joinsWithinMs;
    const open = batch ? this.#collecting.find(joins) : undefined;
    if (open !== undefined) {
      open.message.requestIds.push(requestId);
      return;
    }
    const message: Message = { channel: name, requestIds: [requestId], isSent: false, isOver: false, settles };
    this.#messages.push(message);
    this.#collecting.push({ message, delayMs, dueMs, isWaiting: false });
  }

  /** Sends each collected message, at once or after its delay. */
  send(): void {
    for (const each of this.#collecting.filter(({ isWaiting }) => !isWaiting)) void this.#sendAfter(each);
  }

  remind(requestId: string, { name, delayMs }: LookedChannel, step: AnnouncedStep): void {
    const message = this.#of(requestId, name);
    if (message === undefined) return;
    const isCollecting = this.#isCollecting(message);
    // Before the request was sent, a reminder is skipped, and an escalation waits for it.
    if (isCollecting && step.kind !== 'escalated') return;
    const { dueAt, ...rest } = step;
    const call = (): Promise<Sent> => this.#notify(message, [requestId], rest, `${requestId}:${step.kind}:${dueAt}`);
    if (delayMs === 0 && !isCollecting) this.#queue(message, requestId, call);
    else void this.#queueLater(message, requestId, delayMs, call);
  }

  /** Waits outside the queue, so that a settlement is not delayed until the end of the quiet hours. */
  async #queueLater(message: Message, requestId: string, delayMs: number, call: () => Promise<Sent>): Promise<void> {
    const waiting = { requestId };
    this.#later.add(waiting);
    const isReady = await uncancelled(async () => {
      if (delayMs > 0) await sleep(delayMs);
      await condition(() => !this.#isCollecting(message));
    });
    if (isReady && this.#later.delete(waiting)) this.#queue(message, requestId, call);
  }

  /** Tells the channels how a request was settled, and drops what was not sent yet. */
  settle(requestId: string, channels: readonly string[]): void {
    for (const each of this.#later) if (each.requestId === requestId) this.#later.delete(each);
    for (const channel of channels) {
      const message = this.#of(requestId, channel);
      if (message === undefined) continue;
      if (this.#isCollecting(message)) this.#drop(message, requestId);
      else if (message.settles) this.#queue(message, requestId, () => this.#settled(message, requestId));
    }
  }

  #isCollecting(message: Message): boolean {
    return this.#collecting.some((each) => each.message === message);
  }

  #drop(message: Message, requestId: string): void {
    message.requestIds = message.requestIds.filter((id) => id !== requestId);
    // An empty message is not sent, and does not keep this workflow waiting until the quiet hours end.
    this.#collecting = this.#collecting.filter((each) => each.message.requestIds.length > 0);
  }

  #of(requestId: string, channel: string): Message | undefined {
    return this.#messages.find((each) => each.channel === channel && each.requestIds.includes(requestId));
  }

  async #sendAfter(collecting: Collecting): Promise<void> {
    const { message, delayMs } = collecting;
    collecting.isWaiting = true;
    if (delayMs > 0 && !(await uncancelled(() => sleep(delayMs)))) return;
    this.#collecting = this.#collecting.filter((each) => each !== collecting);
    const [first] = message.requestIds;
    if (first === undefined) return;
    this.#queue(message, first, async () => {
      try {
        return await this.#notify(message, message.requestIds, { kind: 'asked' }, `${first}:asked`);
      } finally {
        message.isOver = true;
      }
    });
  }

  async #notify(message: Message, requestIds: string[], step: ChannelStep, name: string): Promise<Sent> {
    const { channel, sent } = message;
    const call = { channel, workflowId: this.#workflowId, requestIds, sent, step, key: `${channel}:${name}` };
    const result = await notify.executeWithOptions({ summary: `${channel}: ${step.kind}` }, [call]);
    message.isSent = true;
    return result;
  }

  async #settled(message: Message, requestId: string): Promise<Sent> {
    const { channel, sent, requestIds, isSent } = message;
    // A call that failed may have reached people. Earlier versions told the channel nothing then.
    if (!isSent && !patched('settled-after-failed-notify')) return {};
    const others = requestIds.filter((id) => id !== requestId);
    const call = { channel, workflowId: this.#workflowId, requestIds: [requestId, ...others], sent };
    return settled.executeWithOptions({ summary: `${channel}: settled` }, [
      { ...call, key: `${channel}:${requestId}:settled` },
    ]);
  }

  /** Queues a call about a message. A failure is noted and does not stop the calls after it. */
  #queue(message: Message, requestId: string, call: () => Promise<Sent>): void {
    const before = this.#calls.get(message) ?? Promise.resolve();
    this.#running += 1;
    const next = before.then(async () => {
      try {
        const { sent } = await call();
        if (sent !== undefined) message.sent = sent;
      } catch (error) {
        this.#failures.note(requestId, `${message.channel}: ${reasonOf(error)}`);
      }
      this.#running -= 1;
    });
    this.#calls.set(message, next);
  }
}

/** False if the workflow is cancelled meanwhile: an error here would fail its task for ever. */
async function uncancelled(wait: () => Promise<unknown>): Promise<boolean> {
  try {
    await wait();
    return true;
  } catch (error) {
    if (isCancellation(error)) return false;
    throw error;
  }
}
