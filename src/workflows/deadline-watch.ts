/**
 * Exact deadlines (I6). A decision handled when workflow time is not past the deadline counts. In the first
 * activation past it the decision may have been recorded before or after: it is parked, and one activity reads the
 * recorded time of its event. In any later activation it is late. Signals are handled before timers in one
 * activation, so none of this can be left to the order of handlers.
 */
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Arbitrate } from '../activities/arbitrate.ts';
import { activityNames } from '../contract.ts';
import type { ParsedDecision } from '../core/decision.ts';
import { activation } from './activation.ts';
import type { Book } from './book.ts';
import { SharedTimer } from './shared-timer.ts';

interface Closing {
  /** The first activation past the deadline: only its decisions are ambiguous. */
  activation: number;
  parked: { decision: ParsedDecision; eventId: string }[];
  state: 'collecting' | 'arbitrating';
}

const arbitrate = proxyActivities<{ [activityNames.arbitrate]: Arbitrate }>({
  startToCloseTimeout: '30s',
  summary: 'When was each decision recorded?',
})[activityNames.arbitrate];

export class DeadlineWatch {
  readonly #book: Book;
  readonly #closing = new Map<string, Closing>();
  readonly #timer = new SharedTimer();

  constructor(book: Book) {
    this.#book = book;
    activation.onStart(() => this.#noteTime());
    // The activation that made this object has begun already.
    this.#noteTime();
  }

  get arbitrating(): boolean {
    return this.#closing.size > 0;
  }

  get needsAttention(): boolean {
    return this.#collecting().length > 0 || !this.#timer.serves(this.#nextAtMs());
  }

  /** Keeps a decision whose place before or after the deadline is not known yet. False: it is not such a one. */
  park(decision: ParsedDecision, eventId: string): boolean {
    const closing = this.#closing.get(decision.requestId);
    if (closing?.state !== 'collecting' || closing.activation !== activation.number) return false;
    closing.parked.push({ decision, eventId });
    return true;
  }

  /** Called once all signals of the activation were handled: expires what nobody answered, and arms the timer. */
  attend(): void {
    const disputed: [string, Closing][] = [];
    for (const [requestId, closing] of this.#collecting()) {
      if (closing.parked.length > 0) {
        closing.state = 'arbitrating';
        disputed.push([requestId, closing]);
      } else {
        this.#closing.delete(requestId);
        this.#expire(requestId);
      }
    }
    if (disputed.length > 0) void this.#arbitrate(disputed);
    this.#timer.arm(this.#nextAtMs(), this.#summary());
  }

  #noteTime(): void {
    const nowMs = Date.now();
    for (const { deadlineMs, request } of this.#book.ledger.open) {
      if (deadlineMs === null || nowMs <= deadlineMs || this.#closing.has(request.requestId)) continue;
      this.#closing.set(request.requestId, { activation: activation.number, parked: [], state: 'collecting' });
    }
  }

  async #arbitrate(disputed: [string, Closing][]): Promise<void> {
    const parked = disputed.flatMap(([, closing]) => closing.parked);
    const eventIds = [...new Set(parked.map(({ eventId }) => eventId))];
    let recordedAtMs: Record<string, number> = {};
    try {
      recordedAtMs = await arbitrate({ runId: workflowInfo().runId, eventIds });
    } catch {
      // Nothing is known of when they came: fail closed (I2).
    }
    for (const { decision, eventId } of parked) {
      this.#book.decide(decision, recordedAtMs[eventId] ?? Number.POSITIVE_INFINITY);
    }
    for (const [requestId] of disputed) {
      this.#closing.delete(requestId);
      this.#expire(requestId);
    }
  }

  /** Does nothing to a request that a decision has settled. */
  #expire(requestId: string): void {
    this.#book.apply({ kind: 'expire', atMs: Date.now(), requestId });
  }

  #collecting(): [string, Closing][] {
    return [...this.#closing].filter(([, { state }]) => state === 'collecting');
  }

  /** One millisecond past the earliest deadline, since the deadline itself is in time. */
  #nextAtMs(): number | null {
    const dues = this.#book.ledger.open.flatMap(({ deadlineMs, request }) =>
      deadlineMs === null || this.#closing.has(request.requestId) ? [] : [deadlineMs],
    );
    return dues.length === 0 ? null : Math.min(...dues) + 1;
  }

  #summary(): string {
    const open = this.#book.ledger.open;
    return open.length === 1
      ? `Deadline of ${open[0]!.request.toolName}`
      : `Earliest deadline of ${open.length} approvals`;
  }
}
