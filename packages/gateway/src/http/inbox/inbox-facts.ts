import { inParallel } from 'countersign/adapter';
import type { CountersignClient, ApprovalSummary } from 'countersign/client';
import { type RowFacts, askRowFacts, rowKey } from './row-facts.ts';

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
