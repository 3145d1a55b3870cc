import { setTimeout as sleep } from 'node:timers/promises';
import { changedOrAborted, inParallel } from 'countersign/adapter';
import type { Problem } from 'countersign/base';
import type { UnreadRun, ApprovalSummary, CountersignClient } from 'countersign/client';
import type { InboxEvents, InboxPage, InboxRow } from './api.ts';
import type { GatewayContext } from '../gateway-context.ts';
import type { Principal } from '../identity/principal.ts';
import { problemOf } from '../responses/problem-response.ts';
import { inboxRow, rowKey, type RowFacts, askRowFacts } from './row-facts.ts';

/** The most rows of a feed: those with the earliest deadlines. The others are only counted. */
export const mostRows = 500;
/** The rows of a gate fit into a memo of 16 kB; a larger row comes from another workflow and is left out. */
const mostRowCharacters = 32_000;
const mostUnread = 100;
/** The pause between two looks at the inbox, in milliseconds. It doubles while the server cannot be read. */
const pausesMs = { least: 1_000, most: 15_000 };
/** A pause is at least this many times as long as the look before it, so looking takes at most a fifth of the time. */
const pausePerLook = 4;
/** An inbox with more rows than a feed is sent as a whole, at most this often. */
const wholeEveryMs = 5_000;

/** One event of `GET /approvals/events`. */
export type InboxEvent = { [Name in keyof InboxEvents]: { event: Name; data: InboxEvents[Name] } }[keyof InboxEvents];

interface KeptRow {
  row: ApprovalSummary;
  /** The JSON of the row and of its facts: another text means that the row has changed. */
  version: string;
}

/** The last state of the inbox. Each viewer gets what differs from the state that they have seen. */
interface State {
  rows: ReadonlyMap<string, KeptRow>;
  more: number;
  next?: string;
  unread: UnreadRun[];
}

/** The open requests as they change. One poller reads them for all viewers of a gateway; without viewers it stops. */
export class InboxFeed {
  readonly #gateway: GatewayContext;
  readonly #facts: InboxFacts;
  #viewers = 0;
  #polls = false;
  /** Aborts when the last viewer leaves. */
  #idle = new AbortController();
  #state: State | undefined;
  #trouble: Problem | undefined;
  #change = Promise.withResolvers<void>();

  constructor(gateway: GatewayContext) {
    this.#gateway = gateway;
    this.#facts = new InboxFacts(gateway.client);
  }

  /** The events for one viewer, until `signal` aborts. */
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
    // A viewer may have come while the poller stopped.
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

  /** Updates the rows with facts that have arrived since. */
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

/** The time-out of a query to a run, and after which time the run is asked again, in milliseconds. */
const answerMs = 2_000;
const oldMs = 5_000;
/** A run that did not answer is not asked again for this time, in milliseconds. */
const silentMs = 10_000;
const runsAtOnce = 8;
/** The most runs that are asked again in one look at the inbox, so that a large inbox does not keep its workers busy. */
const againAtOnce = 2;

interface KnownRow {
  digest: string;
  /** Absent: the run did not answer, or does not know the request. */
  facts?: RowFacts;
  askedMs: number;
}

/**
 * The facts of rows that only their runs know, for the feed. A run is asked once for new requests, and again from time to
 * time, because seats are delegated. Only the facts of the last look's rows are kept.
 */
export class InboxFacts {
  readonly #client: CountersignClient;
  #known = new Map<string, KnownRow>();
  #asking: Promise<unknown> | undefined;

  constructor(client: CountersignClient) {
    this.#client = client;
  }

  /** Undefined: no worker has answered for this request. */
  of(row: ApprovalSummary): RowFacts | undefined {
    const known = this.#known.get(rowKey(row));
    return known?.digest === row.digest ? known.facts : undefined;
  }

  /** Keeps the facts of these rows, and asks for missing ones; `changed` is called when a run has answered. */
  keep(rows: readonly ApprovalSummary[], changed: () => void): void {
    const kept = new Map<string, KnownRow>();
    for (const row of rows) {
      const known = this.#known.get(rowKey(row));
      if (known?.digest === row.digest) kept.set(rowKey(row), known);
    }
    this.#known = kept;
    if (this.#asking !== undefined) return;
    const wanted = this.#wanted(rows);
    if (wanted.length === 0) return;
    const byRun = Map.groupBy(rows, ({ workflowId }) => workflowId);
    const asking = inParallel(wanted, runsAtOnce, async (workflowId) => {
      await this.#ask(workflowId, byRun.get(workflowId)!);
      changed();
    });
    this.#asking = asking.finally(() => (this.#asking = undefined));
  }

  #wanted(rows: readonly ApprovalSummary[]): string[] {
    const nowMs = performance.now();
    const ages = rows.map((row) => {
      const known = this.#known.get(rowKey(row));
      const ageMs = known === undefined ? Infinity : nowMs - known.askedMs;
      return { row, ageMs: ageMs < (known?.facts === undefined ? silentMs : oldMs) ? 0 : ageMs };
    });
    const due = ages.filter(({ ageMs }) => ageMs > 0);
    const fresh = due.filter(({ ageMs }) => ageMs === Infinity);
    const again = due.filter(({ ageMs }) => ageMs < Infinity).sort((one, other) => other.ageMs - one.ageMs);
    const runsOf = (each: typeof due): string[] => [...new Set(each.map(({ row }) => row.workflowId))];
    return [...new Set([...runsOf(fresh), ...runsOf(again).slice(0, againAtOnce)])];
  }

  /** Never throws: a run that does not answer leaves its rows as the index has them. */
  async #ask(workflowId: string, rows: readonly ApprovalSummary[]): Promise<void> {
    const facts = await askRowFacts(this.#client.session, workflowId, answerMs);
    for (const { requestId, digest } of rows) {
      const key = rowKey({ workflowId, requestId });
      const before = this.#known.get(key);
      const known = facts.get(requestId) ?? (before?.digest === digest ? before.facts : undefined);
      this.#known.set(key, { digest, ...(known !== undefined && { facts: known }), askedMs: performance.now() });
    }
  }
}
