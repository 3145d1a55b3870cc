import { setTimeout as sleep } from 'node:timers/promises';
import { changedOrAborted } from '../../client/changed-or-aborted.ts';
import type { UnreadRun } from '../../client/list-approvals.ts';
import type { ApprovalSummary } from '../../contract.ts';
import type { Problem } from '../../core/base/problem.ts';
import type { InboxEvents, InboxPage, InboxRow } from './api.ts';
import type { GatewayContext } from './gateway-context.ts';
import { InboxFacts } from './inbox-facts.ts';
import type { Principal } from './principal.ts';
import { problemOf } from './problem-response.ts';
import { inboxRow, rowKey } from './row-facts.ts';

/** Rows of a feed. Those with the earliest deadlines come first; the others are counted. */
export const mostRows = 500;
/** A memo holds its rows in 16 kB; only a stranger writes larger ones. */
const mostRowCharacters = 32_000;
const mostUnread = 100;
/** Between two looks at the inbox, in milliseconds: as long again while the server is away. */
const pausesMs = { least: 1_000, most: 15_000 };
/** A look may take a fifth of the time. */
const pausePerLook = 4;
/** A list that has more rows than a feed is sent as a whole, and not more often than this. */
const wholeEveryMs = 5_000;

/** One event of `GET /approvals/events`. */
export type InboxEvent = { [Name in keyof InboxEvents]: { event: Name; data: InboxEvents[Name] } }[keyof InboxEvents];

interface KeptRow {
  row: ApprovalSummary;
  /** The text of the row and of what its run said of it. */
  version: string;
}

/** What every viewer is compared with. */
interface State {
  rows: ReadonlyMap<string, KeptRow>;
  more: number;
  next?: string;
  unread: UnreadRun[];
}

/** The open requests as they change, for all viewers of a gateway: one poller, and none while nobody looks. */
export class InboxFeed {
  readonly #gateway: GatewayContext;
  readonly #facts: InboxFacts;
  #viewers = 0;
  #polls = false;
  /** Aborts when nobody looks any more. */
  #idle = new AbortController();
  #state: State | undefined;
  #trouble: Problem | undefined;
  #change = Promise.withResolvers<void>();

  constructor(gateway: GatewayContext) {
    this.#gateway = gateway;
    this.#facts = new InboxFacts(gateway.client);
  }

  /** What one person sees, until `signal` aborts. It keeps of a viewer only what they have seen last. */
  async *watch(principal: Principal, signal: AbortSignal): AsyncGenerator<InboxEvent, void, undefined> {
    this.#enter();
    try {
      let seen: State | undefined;
      let told: Problem | undefined;
      let wholeAtMs = 0;
      while (!signal.aborted) {
        const changed = this.#change.promise;
        const [state, trouble] = [this.#state, this.#trouble];
        if (trouble !== undefined && trouble.message !== told?.message) yield { event: 'trouble', data: trouble };
        told = trouble;
        let mayWaitMs: number | undefined;
        if (state !== undefined && trouble === undefined && state !== seen) {
          const isPart = state.next !== undefined || seen?.next !== undefined;
          const isOther = seen === undefined || isPart || state.more !== seen.more || state.unread !== seen.unread;
          const waitMs = seen === undefined ? 0 : wholeAtMs + wholeEveryMs - performance.now();
          if (!isOther) {
            yield* this.#changes(seen!, state, principal);
            seen = state;
          } else if (waitMs > 0) mayWaitMs = waitMs;
          else {
            yield { event: 'snapshot', data: this.#pageOf(state, principal) };
            wholeAtMs = performance.now();
            seen = state;
          }
        }
        if (changed !== this.#change.promise) continue;
        await changedOrAborted(changed, signal, mayWaitMs);
      }
    } finally {
      this.#viewers -= 1;
      if (this.#viewers === 0) this.#idle.abort();
    }
  }

  *#changes(seen: State, state: State, principal: Principal): Generator<InboxEvent> {
    for (const [key, { row, version }] of state.rows) {
      if (seen.rows.get(key)?.version !== version) yield { event: 'changed', data: this.#rowOf(row, principal) };
    }
    for (const [key, { row }] of seen.rows) {
      const { requestId, workflowId } = row;
      if (!state.rows.has(key)) yield { event: 'gone', data: { requestId, workflowId } };
    }
  }

  #pageOf({ rows, more, next, unread }: State, principal: Principal): InboxPage {
    const approvals = [...rows.values()].map(({ row }) => this.#rowOf(row, principal));
    return { approvals, more, ...(next !== undefined && { next }), unread };
  }

  #rowOf(row: ApprovalSummary, principal: Principal): InboxRow {
    return inboxRow(row, this.#facts.of(row), principal);
  }

  #enter(): void {
    this.#viewers += 1;
    if (!this.#polls) void this.#poll();
  }

  async #poll(): Promise<void> {
    this.#polls = true;
    this.#idle = new AbortController();
    const { stopping } = this.#gateway;
    const signal = AbortSignal.any([this.#idle.signal, stopping]);
    let pauseMs = pausesMs.least;
    while (!signal.aborted) {
      const beganMs = performance.now();
      try {
        await this.#look();
        pauseMs = Math.max(pausesMs.least, (performance.now() - beganMs) * pausePerLook);
      } catch (error) {
        this.#trouble = problemOf(error);
        if (this.#trouble.code === 'internal') this.#gateway.log(`The inbox cannot be read: ${String(error)}`);
        pauseMs = Math.min(pauseMs * 2, pausesMs.most);
        this.#changed();
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
    this.#polls = false;
    this.#state = undefined;
    this.#trouble = undefined;
    // Somebody may have come while the poller left.
    if (this.#viewers > 0 && !stopping.aborted) void this.#poll();
  }

  async #look(): Promise<void> {
    const { approvals, more, next, unread } = await this.#gateway.client.approvals.list({ limit: mostRows });
    const fitting = approvals.filter((row) => JSON.stringify(row).length <= mostRowCharacters);
    this.#facts.keep(fitting, () => this.#showFacts());
    const before = this.#state;
    const isSame = JSON.stringify(before?.unread) === JSON.stringify(unread.slice(0, mostUnread));
    this.#state = {
      rows: this.#versions(fitting),
      more: more + approvals.length - fitting.length,
      ...(next !== undefined && { next }),
      unread: before !== undefined && isSame ? before.unread : unread.slice(0, mostUnread),
    };
    const wasTrouble = this.#trouble !== undefined;
    this.#trouble = undefined;
    if (wasTrouble || before === undefined || !isEqual(before, this.#state)) this.#changed();
    else this.#state = before;
  }

  /** What a run has said since changes its rows. */
  #showFacts(): void {
    if (this.#state === undefined) return;
    const rows = this.#versions([...this.#state.rows.values()].map(({ row }) => row));
    if (isEqual(this.#state, { ...this.#state, rows })) return;
    this.#state = { ...this.#state, rows };
    this.#changed();
  }

  #versions(rows: readonly ApprovalSummary[]): ReadonlyMap<string, KeptRow> {
    return new Map(
      rows.map((row) => [rowKey(row), { row, version: JSON.stringify([row, this.#facts.of(row)]) }] as const),
    );
  }

  #changed(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers<void>();
    resolve();
  }
}

function isEqual(one: State, other: State): boolean {
  return (
    one.more === other.more &&
    one.next === other.next &&
    one.unread === other.unread &&
    one.rows.size === other.rows.size &&
    [...one.rows].every(([key, { version }]) => other.rows.get(key)?.version === version)
  );
}
