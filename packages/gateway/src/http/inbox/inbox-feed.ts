import { setTimeout as sleep } from 'node:timers/promises';
import { changedOrAborted } from 'countersign/adapter';
import { type Problem, ProblemError } from 'countersign/base';
import type { UnreadRun } from 'countersign/client';
import type { FoundRequests, InboxEvents, InboxPage, WaitsFor } from './api.ts';
import type { GatewayContext } from '../gateway-context.ts';
import type { Principal } from '../identity/principal.ts';
import { problemOf } from '../responses.ts';
import { readBy, rowKey, sharedRow, waitsForRow } from './inbox-row.ts';
import { openView, type OpenQuery, type SharedRow } from './open-view.ts';

/** The most rows that the feed keeps: the rows with the earliest deadlines. The feed only counts all other rows. */
const mostRows = 20_000;
/** The most rows that a stream sends: the rows with the earliest deadlines. A search finds all other rows. */
const mostStreamed = 500;
/** How long the poller continues after the last search, in milliseconds. */
const searchedForMs = 30_000;
/** The feed leaves out larger rows. They are forged, because the memo of a Countersign run has at most 16 kB. */
const mostRowCharacters = 32_000;
const mostUnread = 100;
/** The pause between two reads, in milliseconds. It doubles while Temporal cannot be read. */
const pausesMs = { least: 1_000, most: 15_000 };
/** A pause is at least this many times as long as the read before it, so reads take at most a fifth of the time. */
const pausePerLook = 4;
/** If there are more rows than `mostStreamed`, a stream sends only whole snapshots, at most one per this time. */
const wholeEveryMs = 5_000;

export type InboxEvent = { [Name in keyof InboxEvents]: { event: Name; data: InboxEvents[Name] } }[keyof InboxEvents];

interface KeptRow {
  row: SharedRow;
  /** The JSON of the row. The row has changed if this text differs. */
  version: string;
}

/** What the last read has found. Each stream sends the differences from the state that it sent before. */
interface State {
  rows: ReadonlyMap<string, KeptRow>;
  more: number;
  unread: UnreadRun[];
}

/** Streams and searches the open requests. One poller reads them for all viewers, and stops when no viewer is left. */
export class InboxFeed {
  readonly #gateway: GatewayContext;
  #viewers = 0;
  /** The timer that runs after a search. Until it fires, searches count as one viewer. */
  #searches: NodeJS.Timeout | undefined;
  #polls = false;
  #idle = new AbortController();
  #state: State | undefined;
  #trouble: Problem | undefined;
  #change = Promise.withResolvers<void>();

  constructor(gateway: GatewayContext) {
    this.#gateway = gateway;
  }

  /**
   * The events for one viewer: a `snapshot`, then a `changed` or `gone` for each changed row. The viewer gets another
   * `snapshot` instead if anything other than rows has changed, or if there are more rows than a stream sends.
   */
  async *watch(principal: Principal, signal: AbortSignal): AsyncGenerator<InboxEvent, void, undefined> {
    this.#enter();
    try {
      let seen: State | undefined;
      let sent: Problem | undefined;
      let wholeAtMs = 0;
      while (!signal.aborted) {
        const changed = this.#change.promise;
        const [state, trouble] = [this.#state, this.#trouble];
        if (trouble !== undefined && trouble.message !== sent?.message) yield { event: 'trouble', data: trouble };
        sent = trouble;
        let waitForAllMs: number | undefined;
        if (state !== undefined && trouble === undefined && state !== seen) {
          const isCut = Math.max(state.rows.size, seen?.rows.size ?? 0) > mostStreamed;
          const needsAll = seen === undefined || isCut || state.more !== seen.more || state.unread !== seen.unread;
          const waitMs = seen === undefined ? 0 : wholeAtMs + wholeEveryMs - performance.now();
          if (!needsAll) {
            yield* this.#changes(seen!, state, principal);
            seen = state;
          } else if (waitMs > 0) waitForAllMs = waitMs;
          else {
            yield { event: 'snapshot', data: this.#pageOf(state, principal) };
            wholeAtMs = performance.now();
            seen = state;
          }
        }
        // If the state has changed again while the viewer took these events, there is no need to wait.
        if (changed !== this.#change.promise) continue;
        await changedOrAborted(changed, signal, waitForAllMs);
      }
    } finally {
      this.#leave();
    }
  }

  /** Searches all open requests, after the first read. Throws a `ProblemError` if Temporal cannot be read. */
  async search(principal: Principal, query: OpenQuery, limit: number, signal: AbortSignal): Promise<FoundRequests> {
    this.#keepForSearches();
    while (this.#state === undefined && this.#trouble === undefined && !signal.aborted) {
      await changedOrAborted(this.#change.promise, signal);
    }
    if (this.#trouble !== undefined) throw new ProblemError(this.#trouble);
    const { rows, more, unread } = this.#state ?? { rows: new Map<string, KeptRow>(), more: 0, unread: [] };
    const waitsFor = (row: SharedRow): WaitsFor => waitsForRow(principal, row);
    const all = [...rows.values()].map(({ row }) => row);
    return { ...openView(all, query, { waitsFor, limit, nowMs: Date.now() }), more, unread };
  }

  /** Counts searches as one viewer for `searchedForMs`, so that polling goes on and the next search finds rows. */
  #keepForSearches(): void {
    if (this.#searches !== undefined) {
      this.#searches.refresh();
      return;
    }
    this.#enter();
    this.#searches = setTimeout(() => {
      this.#searches = undefined;
      this.#leave();
    }, searchedForMs).unref();
  }

  #leave(): void {
    this.#viewers -= 1;
    if (this.#viewers === 0) this.#idle.abort();
  }

  /** The events that lead a viewer from the state `seen` to `state`. */
  *#changes(seen: State, state: State, principal: Principal): Generator<InboxEvent> {
    for (const [key, { row, version }] of state.rows) {
      if (seen.rows.get(key)?.version !== version) yield { event: 'changed', data: readBy(row, principal) };
    }
    for (const [key, { row }] of seen.rows) {
      const { requestId, workflowId } = row;
      if (!state.rows.has(key)) yield { event: 'gone', data: { requestId, workflowId } };
    }
  }

  #pageOf({ rows, more, unread }: State, principal: Principal): InboxPage {
    const streamed = [...rows.values()].slice(0, mostStreamed);
    const approvals = streamed.map(({ row }) => readBy(row, principal));
    return { approvals, more: more + rows.size - streamed.length, unread };
  }

  #enter(): void {
    this.#viewers += 1;
    if (!this.#polls) void this.#poll();
  }

  /** Reads the open requests again and again while there are viewers. After an error, it waits longer. */
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
    // If a viewer has come between the abort of `signal` and the end of the loop, polling begins again.
    if (this.#viewers > 0 && !stopping.aborted) void this.#poll();
  }

  /** Reads the open requests once. If nothing has changed, this keeps the former state; else it wakes all streams. */
  async #look(): Promise<void> {
    const { approvals, more, unread } = await this.#gateway.client.approvals.list({ limit: mostRows });
    const before = this.#state;
    const rows = new Map<string, KeptRow>();
    for (const row of approvals) {
      const version = JSON.stringify(row);
      if (version.length > mostRowCharacters) continue;
      const known = before?.rows.get(rowKey(row));
      rows.set(rowKey(row), known?.version === version ? known : { row: sharedRow(row), version });
    }
    const isSame = JSON.stringify(before?.unread) === JSON.stringify(unread.slice(0, mostUnread));
    this.#state = {
      rows,
      more: more + approvals.length - rows.size,
      unread: before !== undefined && isSame ? before.unread : unread.slice(0, mostUnread),
    };
    const wasTrouble = this.#trouble !== undefined;
    this.#trouble = undefined;
    if (wasTrouble || before === undefined || !isEqual(before, this.#state)) this.#changed();
    else this.#state = before;
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
    one.unread === other.unread &&
    one.rows.size === other.rows.size &&
    [...one.rows].every(([key, { version }]) => other.rows.get(key)?.version === version)
  );
}
