import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel } from 'countersign/adapter';
import type { CountersignClient, ApprovalSummary } from 'countersign/client';
import type { InboxRow } from './api.ts';
import type { Principal } from '../identity/principal.ts';
import { type RowFacts, askRowFacts, inboxRow } from './row-facts.ts';

/** How long the answer of a run is reused, in milliseconds. */
const keptMs = 15_000;
const runsAtOnce = 8;
const mostKept = 5_000;

/** The facts of rows that only their runs know, for lists. They are cached, so that a list does not wake its runs each time. */
export class InboxRows {
  readonly #client: CountersignClient;
  readonly #facts = new Map<string, { untilMs: number; facts: Map<string, RowFacts> }>();
  readonly #asked = new Map<string, Promise<void>>();

  constructor(client: CountersignClient) {
    this.#client = client;
  }

  /**
   * The rows as this person sees them. A page waits half of the client's `glanceTimeoutMs` for the runs, and a run has
   * all of it to answer: a row whose run is late has no facts yet, and the next page has them.
   */
  async of(rows: readonly ApprovalSummary[], principal: Principal): Promise<InboxRow[]> {
    const stale = [...new Set(rows.filter((row) => !this.#knows(row)).map(({ workflowId }) => workflowId))];
    const { glanceTimeoutMs } = this.#client.session.limits;
    if (stale.length > 0) {
      const over = new AbortController();
      const asking = inParallel(stale, runsAtOnce, (workflowId) =>
        over.signal.aborted ? Promise.resolve() : this.#ask(workflowId),
      );
      await Promise.race([asking, sleep(glanceTimeoutMs / 2, undefined, { ref: false })]);
      over.abort();
    }
    return rows.map((row) => inboxRow(row, this.#facts.get(row.workflowId)?.facts.get(row.requestId), principal));
  }

  /** True if the run was asked a moment ago, and knew the request then or did not answer. */
  #knows({ workflowId, requestId }: ApprovalSummary): boolean {
    const kept = this.#facts.get(workflowId);
    if (kept === undefined || kept.untilMs < Date.now()) return false;
    return kept.facts.size === 0 || kept.facts.has(requestId);
  }

  /** Asks a run once, however many pages want it. Never throws. */
  #ask(workflowId: string): Promise<void> {
    const running = this.#asked.get(workflowId);
    if (running !== undefined) return running;
    const asking = this.#read(workflowId).finally(() => this.#asked.delete(workflowId));
    this.#asked.set(workflowId, asking);
    return asking;
  }

  async #read(workflowId: string): Promise<void> {
    const { session } = this.#client;
    const facts = await askRowFacts(session, workflowId, session.limits.glanceTimeoutMs);
    this.#facts.delete(workflowId);
    this.#facts.set(workflowId, { untilMs: Date.now() + keptMs, facts });
    // Evict the oldest first.
    for (const oldest of this.#facts.keys()) {
      if (this.#facts.size <= mostKept) break;
      this.#facts.delete(oldest);
    }
  }
}
