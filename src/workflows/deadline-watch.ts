/**
 * Exact deadlines (I6) and the steps before them. What is sent when workflow time is not past the deadline counts. In
 * the first activation past it, it may have been recorded before or after: it is parked, and one activity reads the
 * recorded time of its event. In any later activation it is late. Signals are handled before timers in one activation,
 * so none of this can be left to the order of handlers.
 */
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Arbitrate } from '../activities/arbitrate.ts';
import { activityNames } from '../contract.ts';
import { nextStepAtMs } from '../core/ladder.ts';
import type { BookedRequest } from '../core/ledger.ts';
import { activation } from './activation.ts';
import type { Book } from './book.ts';
import { SharedTimer } from './shared-timer.ts';

/** `collecting`: in the first activation past the deadline. `disputed`: an activity reads when something was sent. */
type Closing = 'collecting' | 'disputed' | 'due';

/** A message as it came in. */
export interface Arrived {
  /** The requests that it may settle. */
  concerns: readonly string[];
  /** The history event that brought it; an update has none, and its time is now. */
  eventId?: string;
  /** It changes what other messages leave behind: it overtakes none, and none overtakes it. */
  isOrdered: boolean;
}

/** What waits to be applied: with when it was sent, infinity where that could not be found out. */
interface Parked {
  /** The event whose recorded time decides, if that is in doubt. */
  eventId?: string;
  /** When it was handled, which counts where nothing is in doubt. */
  handledMs: number;
  /** The requests whose deadline it came too near to. */
  requestIds: string[];
  isOrdered: boolean;
  apply: (atMs: number) => void;
  /** Lets go what it concerns. */
  release: () => void;
}

const arbitrate = proxyActivities<{ [activityNames.arbitrate]: Arbitrate }>({
  startToCloseTimeout: '30s',
  summary: 'When was each decision recorded?',
})[activityNames.arbitrate];

export class DeadlineWatch {
  readonly #book: Book;
  readonly #climb: (requests: readonly BookedRequest[]) => void;
  readonly #closing = new Map<string, Closing>();
  readonly #held = new Map<string, number>();
  #holds = 0;
  readonly #timer = new SharedTimer();
  /** Not applied yet, in the order in which it came; `#unstarted` are those of them that nobody has begun to look into. */
  readonly #parked = new Set<Parked>();
  #unstarted: Parked[] = [];
  /** Settles when all was applied that somebody has begun to look into. */
  #applied: Promise<void> = Promise.resolve();

  /** `climb` takes the steps of these open requests that are due. */
  constructor(book: Book, climb: (requests: readonly BookedRequest[]) => void) {
    this.#book = book;
    this.#climb = climb;
    activation.onStart(() => this.#noteTime());
    // The activation that made this object has begun already.
    this.#noteTime();
  }

  /** True while something is under way that the next link would not know of: the run must not continue as new then. */
  get busy(): boolean {
    return this.#closing.size > 0 || this.#holds > 0;
  }

  get needsAttention(): boolean {
    return this.#unstarted.length > 0 || this.#ripe().length > 0 || !this.#timer.serves(this.#nextAtMs());
  }

  /** True while messages wait that came before whatever comes now. */
  get hasParked(): boolean {
    return this.#parked.size > 0;
  }

  /**
   * Keeps a message whose place before or after a deadline is not known yet, or that would overtake one that is kept
   * and must not. Its requests do not expire meanwhile. False: it can be applied now.
   */
  park({ concerns, eventId, isOrdered }: Arrived, apply: Parked['apply']): boolean {
    const requestIds = eventId === undefined ? [] : concerns.filter((requestId) => this.#isDoubtful(requestId));
    const isDoubtful = requestIds.length > 0;
    const isBehind = isOrdered ? this.hasParked : [...this.#parked].some((parked) => parked.isOrdered);
    if (!isDoubtful && !isBehind) return false;
    for (const requestId of requestIds) this.#closing.set(requestId, 'disputed');
    const inDoubt = isDoubtful && eventId !== undefined ? { eventId } : {};
    const release = this.hold(concerns);
    const parked = { ...inDoubt, handledMs: Date.now(), requestIds, isOrdered, apply, release };
    this.#parked.add(parked);
    this.#unstarted.push(parked);
    return true;
  }

  #isDoubtful(requestId: string): boolean {
    return (
      this.#closing.get(requestId) === 'collecting' ||
      this.#unstarted.some((parked) => parked.requestIds.includes(requestId))
    );
  }

  /** Keeps requests, which may be none, from expiring while what was sent in time is being looked into. Returns what lets them go. */
  hold(requestIds: readonly string[]): () => void {
    this.#holds++;
    for (const requestId of requestIds) this.#held.set(requestId, (this.#held.get(requestId) ?? 0) + 1);
    return () => {
      this.#holds--;
      for (const requestId of requestIds) {
        const holds = this.#held.get(requestId)! - 1;
        if (holds === 0) this.#held.delete(requestId);
        else this.#held.set(requestId, holds);
      }
    };
  }

  /** Called once all signals of the activation were handled: expires what nobody answered, and arms the timer. */
  attend(): void {
    if (this.#unstarted.length > 0) void this.#arbitrate();
    for (const [requestId] of this.#ripe()) {
      if (this.#held.has(requestId)) this.#closing.set(requestId, 'due');
      else this.#expire(requestId);
    }
    this.#climb(this.#waiting());
    this.#timer.arm(this.#nextAtMs(), this.#summary());
  }

  #noteTime(): void {
    const nowMs = Date.now();
    for (const { deadlineMs, request } of this.#book.ledger.open) {
      if (deadlineMs === null || nowMs <= deadlineMs || this.#closing.has(request.requestId)) continue;
      this.#closing.set(request.requestId, 'collecting');
    }
  }

  async #arbitrate(): Promise<void> {
    const all = this.#unstarted;
    this.#unstarted = [];
    const eventIds = [...new Set(all.flatMap(({ eventId }) => eventId ?? []))];
    const earlier = this.#applied;
    let done = (): void => {};
    this.#applied = new Promise((resolve) => (done = resolve));
    let recordedAtMs: Record<string, number> = {};
    try {
      if (eventIds.length > 0) recordedAtMs = await arbitrate({ runId: workflowInfo().runId, eventIds });
    } catch {
      // Nothing is known of when they came: fail closed (I2).
    }
    await earlier;
    for (const parked of all) {
      const { eventId, handledMs, apply, release } = parked;
      this.#parked.delete(parked);
      apply(eventId === undefined ? handledMs : (recordedAtMs[eventId] ?? Number.POSITIVE_INFINITY));
      release();
    }
    for (const requestId of new Set(all.flatMap(({ requestIds }) => requestIds))) this.#closing.set(requestId, 'due');
    done();
  }

  /** Does nothing to a request that something has settled, or given more time. */
  #expire(requestId: string): void {
    this.#closing.delete(requestId);
    const booked = this.#book.ledger.open.find(({ request }) => request.requestId === requestId);
    const atMs = Date.now();
    if (booked?.deadlineMs == null || atMs <= booked.deadlineMs) return;
    this.#book.apply({ kind: 'expire', atMs, requestId });
  }

  /** Past their deadline, and nothing is under way that could still be in time. */
  #ripe(): [string, Closing][] {
    return [...this.#closing].filter(
      ([requestId, state]) => state === 'collecting' || (state === 'due' && !this.#held.has(requestId)),
    );
  }

  #waiting(): BookedRequest[] {
    return this.#book.ledger.open.filter(({ request }) => !this.#closing.has(request.requestId));
  }

  /** The earliest step, or one millisecond past the earliest deadline, since the deadline itself is in time. */
  #nextAtMs(): number | null {
    const dues = this.#waiting().flatMap((booked) => {
      const { deadlineMs } = booked;
      return [nextStepAtMs(booked), deadlineMs === null ? null : deadlineMs + 1].filter((dueMs) => dueMs !== null);
    });
    return dues.length === 0 ? null : Math.min(...dues);
  }

  #summary(): string {
    const { open } = this.#book.ledger;
    return open.length === 1
      ? `Deadline of ${open[0]!.request.toolName}`
      : `Earliest deadline of ${open.length} approvals`;
  }
}
