/**
 * Makes deadlines exact (I6). A message counts if it is received while workflow time is not past the deadline. In the
 * first activation past the deadline, messages may have been recorded in time, so the pipeline reads their recorded
 * times. Messages in later activations are late.
 */
import { CancellationScope, sleep, proxyActivities } from '@temporalio/workflow';
import { nextStepAtMs, openedAtMs, stepsDue, type DueStep } from '../../core/ledger/escalation.ts';
import { type RequestRecord, iso } from '../../core/ledger/ledger.ts';
import type { GateState } from '../state/gate-state.ts';
import type { InFlight } from '../state/in-flight.ts';
import { clock } from '../sandbox/clock.ts';
import { byteLength } from '../../core/base/text.ts';
import { callText } from '../../core/ledger/shown-arguments.ts';
import type { Notify, NotifyInput } from '../../activities/announce.ts';
import { activityNames } from '../../contract.ts';
import { reviewersOf } from '../../core/ledger/waiting-for.ts';
import { backoffMs } from './backoff.ts';

export class Deadlines {
  readonly #state: GateState;
  readonly #inFlight: InFlight;
  readonly #escalation: EscalationSteps;
  readonly #timer: DeadlineTimer;
  /** The open requests past their deadline, with the deadline and the workflow time of the first `look` after it. */
  readonly #overdue = new Map<string, { deadlineMs: number; firstLookMs: number }>();

  constructor(state: GateState, inFlight: InFlight, escalation: EscalationSteps, onFired: () => void) {
    this.#state = state;
    this.#inFlight = inFlight;
    this.#escalation = escalation;
    this.#timer = new DeadlineTimer(onFired);
  }

  /** Notes which open requests are past their deadline at `nowMs`, and forgets the others. */
  look(nowMs: number): void {
    const overdue = new Map<string, number>();
    for (const { request, deadlineMs } of this.#state.ledger.open) {
      if (deadlineMs !== null && nowMs > deadlineMs) overdue.set(request.requestId, deadlineMs);
    }
    for (const requestId of this.#overdue.keys()) if (!overdue.has(requestId)) this.#overdue.delete(requestId);
    for (const [requestId, deadlineMs] of overdue) {
      if (this.#overdue.get(requestId)?.deadlineMs === deadlineMs) continue;
      this.#overdue.set(requestId, { deadlineMs, firstLookMs: nowMs });
    }
  }

  /** True if only the recorded time tells whether a message received at `receivedAtMs` came in time. */
  isDoubtful(requestId: string, receivedAtMs: number): boolean {
    const known = this.#overdue.get(requestId);
    const found = this.#state.ledger.open.find(({ request }) => request.requestId === requestId);
    if (known === undefined || found?.deadlineMs == null || receivedAtMs <= found.deadlineMs) return false;
    // An extension may have set a new deadline that is also past, and no `look` has noted this yet.
    return known.deadlineMs !== found.deadlineMs || receivedAtMs <= known.firstLookMs;
  }

  /** Expires overdue requests, except those whose edit is being checked, and takes the due escalation steps. */
  pass(nowMs: number): void {
    this.look(nowMs);
    for (const requestId of this.#overdue.keys()) {
      if (!this.#inFlight.holds(requestId)) this.#state.apply({ kind: 'expire', atMs: nowMs, requestId });
    }
    this.look(nowMs);
    this.#escalation.take(this.#waiting());
  }

  get isDue(): boolean {
    return !this.#timer.firesBy(this.#nextAtMs());
  }

  run(): void {
    if (!this.isDue) return;
    this.#timer.set(this.#nextAtMs(), timerSummary(this.#waiting()));
    this.#state.noteCommand();
  }

  #waiting(): RequestRecord[] {
    return this.#state.ledger.open.filter(({ request }) => !this.#overdue.has(request.requestId));
  }

  /** Returns when the next step or deadline is over. A message exactly at the deadline is in time, so add 1 ms. */
  #nextAtMs(): number | null {
    const dues = this.#waiting().flatMap((record) => {
      const { deadlineMs } = record;
      return [nextStepAtMs(record), deadlineMs === null ? null : deadlineMs + 1].filter((dueMs) => dueMs !== null);
    });
    return dues.length === 0 ? null : Math.min(...dues);
  }
}

/** One durable timer for the earliest of many deadlines, instead of one for each request. */
class DeadlineTimer {
  readonly #onFired: () => void;
  #running: { atMs: number; scope: CancellationScope } | undefined;

  constructor(onFired: () => void) {
    this.#onFired = onFired;
  }

  firesBy(atMs: number | null): boolean {
    return atMs === null ? this.#running === undefined : this.#running !== undefined && this.#running.atMs <= atMs;
  }

  /** Sets the timer to workflow time `atMs`; null cancels it. A running timer that fires earlier stays. */
  set(atMs: number | null, summary: string): void {
    if (this.firesBy(atMs)) return;
    this.#running?.scope.cancel();
    this.#running = undefined;
    if (atMs === null) return;
    const scope = new CancellationScope();
    const running = { atMs, scope };
    this.#running = running;
    void scope.run(() => this.#fire(running, summary));
  }

  /** Waits for the time of the timer, and then proves it to the clock. A cancelled timer does neither. */
  async #fire(running: { atMs: number }, summary: string): Promise<void> {
    try {
      // The time may have come already, and 1 ms is Temporal's shortest timer.
      await sleep(Math.max(1, running.atMs - clock.nowMs), { summary });
    } catch {
      // The timer was cancelled, because another timer replaced it, or none is needed.
      return;
    } finally {
      if (this.#running === running) this.#running = undefined;
    }
    clock.prove(running.atMs);
    this.#onFired();
  }
}

/** The longest text of a call, in UTF-16 units: the timeline of Temporal's UI is about 130 letters wide. */
const longestCall = 72;
/** The most bytes of a call's text as JSON. The server refuses summaries over 400 bytes, and a codec adds to them. */
const callBytes = 130;
/** The command line finds a request by the beginning of its id. */
const idStart = 8;

/**
 * Writes the timer's summary for Temporal's UI: what waits, until when, and how to answer. The summary cannot change
 * while the timer runs, so with several open requests it names no request to approve.
 */
export function timerSummary(open: readonly RequestRecord[]): string {
  const [first] = open.toSorted((one, other) => (one.deadlineMs ?? Infinity) - (other.deadlineMs ?? Infinity));
  if (first === undefined) return '';
  const { requestId, deadline } = first.request;
  const call = cut(callText(first.request));
  const until = deadline === null ? 'no deadline' : `until ${deadline.slice(0, 16).replace('T', ' ')} UTC`;
  return open.length === 1
    ? `${call} · ${until} · countersign approve ${requestId.slice(0, idStart)}`
    : `${call} and ${open.length - 1} more · ${until} · countersign approvals`;
}

/** Shortens a call's text to `longestCall` and `callBytes`. */
function cut(text: string): string {
  if (text.length <= longestCall && jsonBytes(text) <= callBytes) return text;
  let kept = '';
  for (const character of text) {
    const longer = `${kept}${character}`;
    if (longer.length >= longestCall || jsonBytes(longer) > callBytes - jsonBytes('…')) break;
    kept = longer;
  }
  return `${kept}…`;
}

function jsonBytes(text: string): number {
  return byteLength(JSON.stringify(text));
}

const notify = proxyActivities<{ [activityNames.notify]: Notify }>({
  startToCloseTimeout: '30s',
  retry: { maximumAttempts: 3 },
})[activityNames.notify];

/** Takes the due steps of waiting requests. Each step is a journal entry and one activity that notifies people. */
export class EscalationSteps {
  readonly #state: GateState;
  readonly #inFlight: InFlight;
  /** Notifications to make again, by request and step. A later reminder replaces an earlier one. */
  readonly #missed = new Map<string, NotifyInput>();

  constructor(state: GateState, inFlight: InFlight) {
    this.#state = state;
    this.#inFlight = inFlight;
  }

  restore(missed: readonly NotifyInput[] = []): void {
    for (const each of missed) void this.#notifyAfterWait(each, 0);
  }

  carried(): NotifyInput[] | undefined {
    const missed = [...this.#missed.values()].filter((each) => this.#isOpen(each));
    return missed.length === 0 ? undefined : missed;
  }

  /** Records the steps that are due now, and notifies people of each. */
  take(requests: readonly RequestRecord[]): void {
    const atMs = clock.nowMs;
    for (const record of requests) {
      const steps = stepsDue(record, atMs);
      if (steps.length === 0) continue;
      const { requestId } = record.request;
      const reviewers = reviewersOf(record.terms, atMs - openedAtMs(record));
      this.#state.apply({ kind: 'step', atMs, requestId, steps, reviewers });
      for (const step of steps) void this.#inFlight.wait(this.#notify(inputOf(record, step, reviewers)));
    }
  }

  /** Notifies people of one step. A failure neither fails nor blocks the run: the inbox shows the request anyway. */
  async #notify(input: NotifyInput, failed = 0): Promise<void> {
    try {
      const journal = this.#state.takeJournal();
      await notify.executeWithOptions({ summary: `${input.kind}: approval of ${input.toolName}` }, [
        { ...input, journal },
      ]);
    } catch {
      void this.#notifyAfterWait(input, failed);
      // Repeated failures alone can make the history long enough to continue as new.
      this.#state.noteGrowth();
    }
  }

  /** Makes a failed notification again after a wait, if its request is still open. */
  async #notifyAfterWait(input: NotifyInput, failed: number): Promise<void> {
    const key = [input.requestId, input.kind, ...(input.to ?? [])].join(' ');
    this.#missed.set(key, input);
    const summary = `${input.kind}: notify again`;
    await CancellationScope.nonCancellable(() => sleep(backoffMs(failed), { summary }));
    if (this.#missed.get(key) !== input) return;
    this.#missed.delete(key);
    if (this.#isOpen(input)) await this.#inFlight.wait(this.#notify(input, failed + 1));
  }

  #isOpen({ requestId }: NotifyInput): boolean {
    return this.#state.ledger.open.some(({ request }) => request.requestId === requestId);
  }
}

function inputOf({ request }: RequestRecord, { kind, to, dueMs }: DueStep, reviewers: string[]): NotifyInput {
  const { workflowId, requestId, toolName, agentName, deadline } = request;
  return { kind, workflowId, requestId, toolName, agentName, reviewers, to, deadline, dueAt: iso(dueMs) };
}
