/** Makes the events of approval requests from the journal entries and memos of a run's history. */
import type { CallOutcome } from '../core/ledger/approval.ts';
import type { ApprovalSummary } from '../core/ledger/approval-index.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import { gapsIn, takeOutcome } from './journal.ts';
import type { HistoryEvent } from './history-event.ts';
import type { ApprovalDecision, EventDraft } from './run-event.ts';
import { type OpenRequest, eventRequest } from './event-request.ts';
import type { RunFacts } from './run-facts.ts';

export class ApprovalEvents {
  readonly #facts: RunFacts;
  readonly #seen = new SeenEntries();
  #startsLate = false;
  /** The open requests by id, in the order in which they were opened. */
  readonly #open = new Map<string, OpenRequest>();
  readonly #settled = new Set<string>();
  /** How the calls were settled, by call id. */
  readonly outcomes = new Map<string, CallOutcome>();

  constructor(facts: RunFacts) {
    this.#facts = facts;
  }

  /**
   * Call it first if the server no longer has the beginning of the run: entries before the first seen one are then not
   * reported as missing.
   */
  startLate(): void {
    this.#startsLate = true;
  }

  /**
   * Processes the journal entries and the memo of one event. The entries come first, because the memo shows their
   * effect.
   */
  add({ journal, open }: HistoryEvent): { drafts: EventDraft[]; entries: JournalEntry[] } {
    const entries = journal.filter(({ seq }) => this.#seen.take(seq));
    if (this.#startsLate) this.#seen.startLate();
    const drafts = entries.flatMap((entry) => this.#entry(entry, entries));
    if (open === undefined) return { drafts, entries };
    for (const row of open) this.#row(row);
    return { drafts: [...drafts, ...this.#announceAll()], entries };
  }

  /**
   * Call it once the run has ended. Returns the events that cancel the requests which the run could not settle itself,
   * and the gaps of missing entries.
   */
  end(): EventDraft[] {
    const drafts = this.#announceAll();
    for (const [requestId, { opened, row }] of this.#open) {
      const { callId = '', toolName = row?.toolName ?? '' } = opened ?? {};
      const decision = 'cancelled' as const;
      const reason = 'the run ended';
      drafts.push({
        type: 'ApprovalResultEvent',
        requestId,
        callId,
        toolName,
        decision,
        reason,
        reviewerId: null,
        ran: 'no',
      });
    }
    this.#open.clear();
    for (const [first, last] of this.#seen.missing) {
      const entries = first === last ? `entry ${first}` : `entries ${first} to ${last}`;
      drafts.push({ type: 'gap', reason: 'journal', message: `No payload carries ${entries} of the journal.` });
    }
    return drafts;
  }

  #entry(entry: JournalEntry, beside: readonly JournalEntry[]): EventDraft[] {
    const { kind, requestId = '', outcome } = entry;
    takeOutcome(this.outcomes, entry);
    if (kind === 'opened') this.#opened(requestId, entry);
    return kind === 'settled' && outcome !== undefined ? this.#settle(entry, beside) : [];
  }

  #opened(requestId: string, opened: JournalEntry): void {
    if (this.#settled.has(requestId)) return;
    this.#open.set(requestId, { isAnnounced: false, ...this.#open.get(requestId), opened });
  }

  #row(row: ApprovalSummary): void {
    const { requestId } = row;
    if (this.#settled.has(requestId)) return;
    const known = this.#open.get(requestId);
    if (known?.row === undefined) this.#open.set(requestId, { isAnnounced: false, ...known, row });
  }

  /**
   * The event of a settlement, after that of the request if that one was not announced. None if the request was settled
   * before.
   */
  #settle(entry: JournalEntry, beside: readonly JournalEntry[]): EventDraft[] {
    const { requestId = '', callId = '', toolName = '', reason = null, reviewerId = null } = entry;
    const { reviewerName, identity, by, byId } = entry;
    if (this.#settled.has(requestId)) return [];
    const known = this.#open.get(requestId) ?? { opened: entry, isAnnounced: false };
    const grantId = beside.find((each) => each.kind === 'grant' && each.requestId === requestId)?.grantId;
    this.#open.delete(requestId);
    this.#settled.add(requestId);
    return [
      ...this.#announce(requestId, known),
      {
        type: 'ApprovalResultEvent',
        requestId,
        callId,
        toolName,
        decision: decisionOf(entry, grantId),
        reason,
        reviewerId,
        ran: entry.runs === true ? 'pending' : 'no',
        ...(reviewerName !== undefined && { reviewerName }),
        ...(identity !== undefined && { identity }),
        ...(grantId !== undefined && { grantId }),
        ...(by !== undefined && { by, byId: byId ?? null }),
      },
    ];
  }

  #announceAll(): EventDraft[] {
    return [...this.#open].flatMap(([requestId, request]) => this.#announce(requestId, request));
  }

  #announce(requestId: string, request: OpenRequest): EventDraft[] {
    if (request.isAnnounced) return [];
    request.isAnnounced = true;
    const { workflowId: _, ...event } = eventRequest(requestId, request, this.#facts);
    return [{ type: 'ApprovalRequestEvent', ...event }];
  }
}

/** The outcome of a request as its event names it. `grantId`: the grant that the decision made, if any. */
function decisionOf({ outcome }: JournalEntry, grantId: string | undefined): ApprovalDecision {
  if (outcome === 'approved' && grantId !== undefined) return 'approved_always';
  // No other outcome settles a request.
  switch (outcome) {
    case undefined:
    case 'allowed':
    case 'denied_by_policy':
    case 'refused':
    case 'cached':
      return 'cancelled';
    default:
      return outcome;
  }
}

/** The journal entries seen so far. Payloads repeat entries, and may carry them out of order. */
class SeenEntries {
  /** The number up to which every entry has been seen. */
  #upTo = 0;
  readonly #beyond = new Set<number>();

  /** Marks an entry as seen; returns true if it was not seen before. */
  take(seq: number): boolean {
    if (seq <= this.#upTo || this.#beyond.has(seq)) return false;
    this.#beyond.add(seq);
    while (this.#beyond.delete(this.#upTo + 1)) this.#upTo += 1;
    return true;
  }

  /** Marks entries before the first seen one as seen: the server no longer has them. */
  startLate(): void {
    if (this.#upTo > 0 || this.#beyond.size === 0) return;
    this.#upTo = Math.min(...this.#beyond) - 1;
    while (this.#beyond.delete(this.#upTo + 1)) this.#upTo += 1;
  }

  /** The gaps between seen entries: `[first, last]`. */
  get missing(): [number, number][] {
    return gapsIn(
      [...this.#beyond].sort((one, other) => one - other),
      this.#upTo + 1,
    );
  }
}
