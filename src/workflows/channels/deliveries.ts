import { condition, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { AnnouncedStep, Changed } from '../../activities/announce.ts';
import type { LookAtRequests, LookedChannel, LookedRequest } from '../../channels/activities/look-at-requests.ts';
import { activityNames, type Delivered } from '../../contract.ts';
import { Answering } from './answering.ts';
import { type Message, Messages } from './messages.ts';

const { [activityNames.lookAtRequests]: lookAtRequests } = proxyActivities<{
  [activityNames.lookAtRequests]: LookAtRequests;
}>({ startToCloseTimeout: '60s', retry: { maximumInterval: '30s' }, summary: 'Look at the requests of the run' });

/** A request may be settled without a word of its run: at its deadline, and when the run is terminated. */
const afterDeadlineMs = 1_500;
const firstLookMs = 60_000;
const longestLookMs = 3_600_000;
const mostSteps = 500;

/** An open request, and what its channels were told of it. */
interface Tracked {
  requestId: string;
  deadlineMs: number | null;
  /** The channels that were asked, and those that have answered or failed. */
  asked: string[];
  answered: string[];
  /** The keys of the steps that were taken. */
  steps: string[];
}

/** What the next execution takes over. */
export interface DeliveryState {
  requests: Tracked[];
  messages: Message[];
}

export class Deliveries {
  readonly #workflowId: string;
  readonly #requests: Map<string, Tracked>;
  readonly #messages: Messages;
  readonly #answering: Answering;
  /** Requests to look at, with the steps that were announced. */
  #pending = new Map<string, AnnouncedStep[]>();
  #lookMs = firstLookMs;

  constructor(workflowId: string, carried: DeliveryState = { requests: [], messages: [] }) {
    this.#workflowId = workflowId;
    this.#requests = new Map(carried.requests.map((request) => [request.requestId, request]));
    this.#messages = new Messages(workflowId, carried.messages);
    this.#answering = new Answering(workflowId, this.#messages, (requestId) => this.note({ requestIds: [requestId] }));
    for (const requestId of this.#requests.keys()) this.#pending.set(requestId, []);
  }

  note({ requestIds, step }: Changed): void {
    for (const requestId of requestIds) {
      const steps = this.#pending.get(requestId) ?? [];
      this.#pending.set(requestId, step === undefined ? steps : [...steps, step]);
    }
    this.#lookMs = firstLookMs;
  }

  /** True once every request is settled and its channels know; false if the history has grown enough. */
  async toEnd(): Promise<boolean> {
    for (;;) {
      const isWoken = await condition(() => this.#pending.size > 0 || this.#isOver || this.#isLong, this.#nextLookMs());
      if (this.#pending.size > 0) await this.#look();
      else if (this.#isOver) return true;
      else if (this.#isLong) return false;
      else if (!isWoken) this.#lookAtAll();
    }
  }

  list(): Delivered[] {
    return [...this.#requests.values()].map(({ requestId, asked }) => ({
      requestId,
      channels: asked,
      failures: [...this.#messages.failures(requestId), ...this.#answering.failures(requestId)],
    }));
  }

  state(): DeliveryState {
    return { requests: [...this.#requests.values()], messages: this.#messages.state() };
  }

  get #isOver(): boolean {
    return this.#requests.size === 0 && this.#isIdle;
  }

  get #isIdle(): boolean {
    return this.#pending.size === 0 && this.#messages.isIdle && this.#answering.isIdle;
  }

  /** Channels that answer are not interrupted for it: such an execution grows by nothing while it waits. */
  get #isLong(): boolean {
    return this.#isIdle && workflowInfo().continueAsNewSuggested;
  }

  #nextLookMs(): number {
    const deadlines = [...this.#requests.values()].flatMap(({ deadlineMs }) => deadlineMs ?? []);
    const dueMs = Math.min(...deadlines) + afterDeadlineMs - Date.now();
    // A deadline that has passed is looked at again soon: the run may be slow to say so.
    return Math.min(dueMs > 0 ? dueMs : afterDeadlineMs, this.#lookMs);
  }

  #lookAtAll(): void {
    this.#lookMs = Math.min(this.#lookMs * 2, longestLookMs);
    for (const requestId of this.#requests.keys()) this.#pending.set(requestId, []);
  }

  async #look(): Promise<void> {
    const pending = this.#pending;
    this.#pending = new Map();
    const looked = await lookAtRequests({ workflowId: this.#workflowId, requestIds: [...pending.keys()] });
    for (const request of looked) {
      if (request.state === 'open') this.#follow(request, pending.get(request.requestId) ?? []);
      else this.#end(request);
    }
    this.#messages.send();
  }

  #follow({ requestId, deadlineMs = null, channels }: LookedRequest, steps: AnnouncedStep[]): void {
    const known = this.#requests.get(requestId);
    const tracked = known ?? { requestId, deadlineMs, asked: [], answered: [], steps: [] };
    tracked.deadlineMs = deadlineMs;
    if (channels.length > 0) this.#requests.set(requestId, tracked);
    for (const channel of channels) {
      this.#tell(tracked, channel, steps);
      const isAlone = channels.length === 1;
      if (!channel.resolves || tracked.answered.includes(channel.name)) continue;
      this.#answering.begin({ requestId, channel, isAlone, deadlineMs });
      tracked.answered.push(channel.name);
    }
    tracked.steps.push(...steps.map(keyOf).filter((key) => !tracked.steps.includes(key)));
  }

  #tell(tracked: Tracked, channel: LookedChannel, steps: AnnouncedStep[]): void {
    const { requestId, asked } = tracked;
    if (!asked.includes(channel.name)) {
      asked.push(channel.name);
      if (channel.notifies) this.#messages.ask(requestId, channel);
      return;
    }
    if (!channel.notifies) return;
    for (const step of steps) {
      if (tracked.steps.includes(keyOf(step)) || tracked.steps.length >= mostSteps) continue;
      this.#messages.remind(requestId, channel, step);
    }
  }

  #end({ requestId, state }: LookedRequest): void {
    const tracked = this.#requests.get(requestId);
    if (tracked === undefined) return;
    this.#answering.stop(requestId);
    this.#requests.delete(requestId);
    if (state === 'settled') this.#messages.settle(requestId, tracked.asked);
  }
}

function keyOf({ kind, dueAt }: AnnouncedStep): string {
  return `${kind} ${dueAt}`;
}
