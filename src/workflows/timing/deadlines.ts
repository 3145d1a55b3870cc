/**
 * Exact deadlines (I6). A message that was received while workflow time was not past the deadline counts. One that the
 * first look past the deadline finds may have been recorded in time: the pipeline reads its recorded time. One that
 * comes after that look was recorded late. What decides by workflow time reads it in an activation that writes a command.
 */
import { nextStepAtMs } from '../../core/ledger/escalation.ts';
import type { RequestRecord } from '../../core/ledger/ledger.ts';
import { DeadlineTimer } from './deadline-timer.ts';
import type { EscalationSteps } from './escalation-steps.ts';
import { timerSummary } from './timer-summary.ts';
import type { GateState } from '../state/gate-state.ts';
import type { InFlight } from '../state/in-flight.ts';

export class Deadlines {
  readonly #state: GateState;
  readonly #inFlight: InFlight;
  readonly #escalation: EscalationSteps;
  readonly #timer: DeadlineTimer;
  /** Open requests past a deadline, with that deadline and the workflow time of the first look past it. */
  readonly #overdue = new Map<string, { deadlineMs: number; firstLookMs: number }>();

  /** `onFired` is called when the timer fires. */
  constructor(state: GateState, inFlight: InFlight, escalation: EscalationSteps, onFired: () => void) {
    this.#state = state;
    this.#inFlight = inFlight;
    this.#escalation = escalation;
    this.#timer = new DeadlineTimer(onFired);
  }

  /** Notes which open requests are past their deadline for the first time. */
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
    // An extension that was applied late, and is past already, has a deadline at which nobody has looked yet.
    return known.deadlineMs !== found.deadlineMs || receivedAtMs <= known.firstLookMs;
  }

  /** Expires overdue requests that nothing in flight holds, and takes the steps that are due. */
  pass(nowMs: number): void {
    this.look(nowMs);
    for (const requestId of this.#overdue.keys()) {
      if (!this.#inFlight.holds(requestId)) this.#state.apply({ kind: 'expire', atMs: nowMs, requestId });
    }
    this.look(nowMs);
    this.#escalation.take(this.#waiting());
  }

  /** True if the timer must be started or cancelled. */
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

  /** The earliest step, or one millisecond past the earliest deadline, because the deadline itself is still in time. */
  #nextAtMs(): number | null {
    const dues = this.#waiting().flatMap((record) => {
      const { deadlineMs } = record;
      return [nextStepAtMs(record), deadlineMs === null ? null : deadlineMs + 1].filter((dueMs) => dueMs !== null);
    });
    return dues.length === 0 ? null : Math.min(...dues);
  }
}
