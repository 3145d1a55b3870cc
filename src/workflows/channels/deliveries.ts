import { SearchAttributeType, defineSearchAttributeKey } from '@temporalio/common';
import { condition, log, proxyActivities, sleep, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { AnnouncedStep, ChangedSignal } from '../../activities/announce.ts';
import type { LookAtRequests, LookedChannel, LookedRequest } from '../../channels/activities/look-at-requests.ts';
import { activityNames, type Delivered } from '../../contract.ts';
import { undeliveredMessage, undeliveredTag } from '../../core/ledger/waiting-for.ts';
import { jsonDigest } from '../../core/base/digest.ts';
import { clock } from '../sandbox/clock.ts';
import { thisExecution, type Writer } from '../state/carried.ts';
import { Answering } from './answering.ts';
import { Backoff } from '../timing/backoff.ts';
import { isFinal } from './failures.ts';
import { ChannelMessages, type DueStep, type MessagesState } from './messages.ts';
import type { Tracked } from './tracked.ts';

const { [activityNames.lookAtRequests]: lookAtRequests } = proxyActivities<{
  [activityNames.lookAtRequests]: LookAtRequests;
}>({ startToCloseTimeout: '60s', retry: { maximumInterval: '30s' }, summary: 'Look at the requests of the run' });

/** A request is read from the run this long after its deadline, because a terminated run announces no settlement. */
const afterDeadlineMs = 1_500;
const firstLookMs = 60_000;
const longestLookMs = 3_600_000;
/** How far the clock of the run's worker may be ahead of the clock of this workflow's worker. */
const clockDifferenceMs = 1_000;
const mostSteps = 500;
/** The most requests of one look, which is one query. */
const mostAtOnce = 1_000;
/** The most requests that wait to be looked at: a sender can name requests that no run has. */
const mostPending = 10_000;
/** The most undelivered requests in the index: the server takes 2 kB of an attribute. */
const mostIndexed = 40;

export interface DeliveryState extends MessagesState {
  writer: Writer;
  requests: Tracked[];
  /** The requests that the index lists as undelivered. The next execution inherits the index. */
  undelivered?: string[];
}

/** Follows the requests of one run: reads their state, sends them to their channels, and collects the answers. */
export class Deliveries {
  readonly #workflowId: string;
  readonly #requests = new Map<string, Tracked>();
  readonly #messages: ChannelMessages;
  readonly #answering: Answering;
  /** The requests to read from the run, with the steps that signals have announced of each request. */
  readonly #pending = new Map<string, AnnouncedStep[]>();
  #lookMs = firstLookMs;
  /** The name of the search attribute for tags. Undefined if there is none, or before the first look at the run. */
  #tagsName: string | undefined;
  #indexed: readonly string[] = [];

  constructor(workflowId: string) {
    this.#workflowId = workflowId;
    this.#messages = new ChannelMessages(workflowId, () => this.#index());
    this.#answering = new Answering(workflowId, this.#messages, (requestId) => this.note({ requestIds: [requestId] }));
  }

  restore({ requests, undelivered = [], ...messages }: DeliveryState): void {
    this.#indexed = undelivered;
    for (const request of requests) this.#requests.set(request.requestId, request);
    this.#messages.restore(messages);
    this.note({ requestIds: requests.map(({ requestId }) => requestId) });
  }

  /** Notes up to `mostPending` requests, and perhaps a step that they have reached, for the next look at the run. */
  note({ requestIds, step }: ChangedSignal): void {
    for (const requestId of requestIds) {
      const steps = this.#pending.get(requestId);
      if (steps === undefined && this.#pending.size >= mostPending) continue;
      const isNew = step !== undefined && !steps?.some((each) => keyOf(each) === keyOf(step));
      const isTaken = isNew && (steps ?? []).length < mostSteps;
      this.#pending.set(requestId, isTaken ? [...(steps ?? []), step] : (steps ?? []));
    }
    this.#lookMs = firstLookMs; // while something happens, look often
  }

  /** Resolves to true once all requests are settled and reported, or to false if it is time to continue as new. */
  async toEnd(): Promise<boolean> {
    for (;;) {
      const isWoken = await condition(
        () => this.#pending.size > 0 || this.#isOver || this.#isLong || this.#mustInterrupt,
        this.#nextLookMs(),
      );
      if (this.#pending.size > 0) await this.#look();
      else if (this.#mustInterrupt) this.#messages.interrupt();
      else if (this.#isOver) return true;
      else if (this.#isLong) return false;
      else if (!isWoken) this.#lookAtAll();
    }
  }

  list(): Delivered[] {
    return [...this.#requests.values()].map((tracked) => ({
      requestId: tracked.requestId,
      channels: tracked.asked,
      failures: [...this.#messages.failures(tracked.requestId), ...this.#answering.failures(tracked.requestId)],
      ...this.#deliveryState(tracked),
    }));
  }

  /** Returns `undelivered` if a channel fails and none has the request, `heldUntil` if all wait, otherwise neither. */
  #deliveryState({ requestId, channels, asked }: Tracked): Pick<Delivered, 'undelivered' | 'heldUntil'> {
    const progress = channels.map((name) =>
      asked.includes(name) ? this.#messages.progress(requestId, name) : 'failing',
    );
    if (progress.some((each) => each === 'delivered' || each === 'sending')) return {};
    if (progress.includes('failing')) return { undelivered: true };
    const untilMs = Math.min(...progress.filter((each) => typeof each === 'number'));
    // oxlint-disable-next-line no-restricted-globals -- it converts a given instant
    return Number.isFinite(untilMs) ? { heldUntil: new Date(untilMs).toISOString() } : {};
  }

  /** Writes the undelivered requests into a search attribute, by which lists find them, and into the log. */
  #index(): void {
    if (this.#tagsName === undefined) return;
    const all = this.list().filter(({ undelivered }) => undelivered);
    const ids = all.map(({ requestId }) => requestId).slice(0, mostIndexed);
    if (ids.join() === this.#indexed.join()) return;
    for (const { requestId, failures } of all) {
      if (this.#indexed.includes(requestId)) continue;
      log.warn(undeliveredMessage, { requestId, run: this.#workflowId, failure: failures.at(-1) });
    }
    this.#indexed = ids;
    const key = defineSearchAttributeKey(this.#tagsName, SearchAttributeType.KEYWORD_LIST);
    // An empty list makes the server remove the attribute.
    upsertSearchAttributes([
      { key, value: ids.length === 0 ? [] : [undeliveredTag, ...ids.map((id) => undeliveredTag + id)] },
    ]);
  }

  /** Stops the calls of channels, and returns the state with which the next execution goes on. */
  carry(): DeliveryState {
    this.#answering.interrupt();
    const requests = [...this.#requests.values()];
    const undelivered = [...this.#indexed];
    return { writer: thisExecution(), requests, undelivered, ...this.#messages.state((id) => this.#requests.has(id)) };
  }

  get #isOver(): boolean {
    return this.#requests.size === 0 && this.#pending.size === 0 && this.#messages.isIdle && this.#answering.isIdle;
  }

  /** True if it is time to continue as new, and no message or answer is under way. Messages that wait are carried. */
  get #isLong(): boolean {
    const isQuiet = this.#pending.size === 0 && this.#messages.isQuiet && this.#answering.isQuiet;
    return isQuiet && workflowInfo().continueAsNewSuggested;
  }

  /** True if this workflow must continue as new, and a call that the server retries without end prevents that. */
  get #mustInterrupt(): boolean {
    return this.#messages.isPatient && workflowInfo().continueAsNewSuggested;
  }

  #nextLookMs(): number {
    const deadlines = [...this.#requests.values()].flatMap(({ deadlineMs }) => deadlineMs ?? []);
    const dueMs = Math.min(...deadlines) + afterDeadlineMs - clock.nowMs;
    // After a deadline, look again soon: the run may take a while to settle the request.
    return Math.min(dueMs > 0 ? dueMs : afterDeadlineMs, this.#lookMs);
  }

  #lookAtAll(): void {
    this.#lookMs = Math.min(this.#lookMs * 2, longestLookMs);
    for (const requestId of this.#requests.keys()) this.#pending.set(requestId, []);
  }

  /** Reads the state of the pending requests from the run. Follows those that are open, and ends the others. */
  async #look(): Promise<void> {
    const pending = new Map([...this.#pending].toSorted(this.#trackedFirst).slice(0, mostAtOnce));
    for (const requestId of pending.keys()) this.#pending.delete(requestId);
    const looked = await this.#read([...pending.keys()]);
    for (const request of looked) {
      if (request.state === 'open') this.#follow(request, pending.get(request.requestId) ?? []);
      else this.#end(request.requestId, true);
      pending.delete(request.requestId);
    }
    for (const requestId of pending.keys()) this.#end(requestId, false);
    this.#messages.send();
    this.#index();
  }

  /** Reads the state of requests from the run, and retries until the run has answered. */
  async #read(requestIds: string[]): Promise<LookedRequest[]> {
    for (const backoff = new Backoff(); ; await sleep(backoff.next())) {
      try {
        return await lookAtRequests({ workflowId: this.#workflowId, requestIds });
      } catch (error) {
        if (isFinal(error)) throw error;
      }
    }
  }

  /** Sorts tracked requests first: a sender may have named other requests, which no run has. */
  readonly #trackedFirst = ([one]: [string, unknown], [other]: [string, unknown]): number =>
    Number(this.#requests.has(other)) - Number(this.#requests.has(one));

  /** Tracks an open request as the run shows it now, and queues what its channels have not received yet. */
  #follow(looked: LookedRequest, announced: AnnouncedStep[]): void {
    const { requestId, deadlineMs = null, userMessages = 0, names, channels, tagsName } = looked;
    this.#tagsName = tagsName;
    const known = this.#requests.get(requestId);
    if (known === undefined && names.length === 0) return;
    const tracked = known ?? { requestId, deadlineMs, channels: [], asked: [], begun: [], answers: 0, steps: [] };
    this.#requests.set(requestId, tracked);
    tracked.deadlineMs = deadlineMs;
    if (looked.facts !== undefined) tracked.facts = looked.facts;
    this.#removeFrom(
      tracked,
      tracked.channels.filter((name) => !names.includes(name)),
    );
    tracked.channels = names;
    const steps: DueStep[] = this.#take(tracked, announced);
    if (userMessages > (tracked.userMessages ?? 0)) {
      // The first message about a request already shows the user's messages up to then.
      if (known !== undefined) steps.push({ kind: 'user_wrote', dueAt: `${userMessages}` });
      tracked.userMessages = userMessages;
    }
    for (const channel of channels) {
      this.#notify(tracked, channel, steps);
      if (channel.resolves) this.#answering.begin(tracked, channel);
    }
  }

  /** Detaches a request from channels, which must not answer it now. Those that got it still get its settlement. */
  #removeFrom(tracked: Tracked, channels: readonly string[]): void {
    this.#answering.stop(tracked, channels);
    const unsent = this.#messages.drop(tracked.requestId, channels);
    tracked.begun = tracked.begun.filter((name) => !channels.includes(name));
    tracked.asked = tracked.asked.filter((name) => !unsent.includes(name));
  }

  /** Returns the announced steps that are due and new, and notes them as taken. */
  #take(tracked: Tracked, announced: readonly AnnouncedStep[]): AnnouncedStep[] {
    const nowMs = clock.nowMs + clockDifferenceMs;
    const fresh = announced
      // oxlint-disable-next-line no-restricted-globals -- parses a given instant; reads no clock
      .filter((step) => Date.parse(step.dueAt) <= nowMs && !tracked.steps.includes(keyOf(step)))
      .slice(0, mostSteps - tracked.steps.length);
    tracked.steps.push(...fresh.map(keyOf));
    return fresh;
  }

  /** Notes a new channel as asked, and queues the request unless its answers are automatic. Then queues the steps. */
  #notify({ requestId, asked }: Tracked, channel: LookedChannel, steps: readonly DueStep[]): void {
    if (!asked.includes(channel.name)) {
      asked.push(channel.name);
      if (channel.notifies && !channel.isAutomatic) this.#messages.ask(requestId, channel);
    }
    if (!channel.notifies) return;
    for (const step of steps) this.#messages.remind(requestId, channel, step);
  }

  /** Stops tracking a request: it is settled or, if `isSettled` is false, the run does not have it. */
  #end(requestId: string, isSettled: boolean): void {
    const tracked = this.#requests.get(requestId);
    if (tracked === undefined) return;
    this.#answering.stop(tracked, tracked.begun);
    this.#requests.delete(requestId);
    if (isSettled) this.#messages.settle(requestId, tracked.asked);
    // Only a request with `facts` was once read from the run. Its channels get a settlement although the run lost it.
    else if (tracked.facts !== undefined) this.#messages.settle(requestId, tracked.asked, tracked.facts);
  }
}

/** Returns a digest that identifies a step. It covers the reviewers' names, so that a forged step is another step. */
function keyOf({ kind, dueAt, to = [] }: AnnouncedStep): string {
  return jsonDigest([kind, dueAt, ...to]).slice(0, 16);
}
