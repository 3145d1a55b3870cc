/** Makes the events of approval requests from the journal entries and memos of a run's history. */
import type { CallOutcome } from '../ledger/approval.ts';
import type { ApprovalSummary } from '../ledger/approval-index.ts';
import type { JournalEntry } from '../ledger/journal-entry.ts';
import { isReplaced } from '../ledger/is-replaced.ts';
import type { HistoryEvent } from './history-event.ts';
import type { ApprovalDecision, EventDraft } from './run-event.ts';
import type { OpenRequest } from './open-request.ts';
import { requestOf } from './request-of.ts';
import type { RunFacts } from './run-facts.ts';
import { SeenEntries } from './seen-entries.ts';

export class ApprovalEvents {
  readonly #facts: RunFacts;
  readonly #seen = new SeenEntries();
  #startsLate = false;
  /** By id, in the order of opening. */
  readonly #open = new Map<string, OpenRequest>();
  readonly #settled = new Set<string>();
  /** How the calls were settled, by call id. */
  readonly outcomes = new Map<string, Pick<CallOutcome, 'outcome' | 'ran'>>();

  constructor(facts: RunFacts) {
    this.#facts = facts;
  }

  /** The server no longer has the beginning of the run. */
  startLate(): void {
    this.#startsLate = true;
  }

  /** Takes the entries first: the memo of the same event shows what they led to. */
  add({ journal, open }: HistoryEvent): { drafts: EventDraft[]; entries: JournalEntry[] } {
    const entries = journal.filter(({ seq }) => this.#seen.take(seq));
    if (this.#startsLate) this.#seen.startLate();
    const drafts = entries.flatMap((entry) => this.#entry(entry, entries));
    if (open === undefined) return { drafts, entries };
    for (const row of open) this.#row(row);
    return { drafts: [...drafts, ...this.#announceAll()], entries };
  }

  /** The run has ended: what it could not settle itself is cancelled, and what is missing is named. */
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
    const { kind, callId = '', requestId = '', outcome, ran } = entry;
    if (kind === 'opened') this.#opened(requestId, entry);
    else if (kind === 'ruling' && outcome !== undefined) {
      this.outcomes.set(callId, { outcome, ran: outcome === 'allowed' ? 'pending' : 'no' });
    } else if (kind === 'settled' && outcome !== undefined) {
      if (!isReplaced(entry)) this.outcomes.set(callId, { outcome, ran: entry.runs === true ? 'pending' : 'no' });
      return this.#settle(entry, beside);
    } else if (kind === 'ran' && ran !== undefined) {
      const known = this.outcomes.get(callId);
      if (known !== undefined) this.outcomes.set(callId, { ...known, ran });
    }
    return [];
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

  #settle(entry: JournalEntry, beside: readonly JournalEntry[]): EventDraft[] {
    const { requestId = '', callId = '', toolName = '', reason = null, reviewerId = null, identity, by, byId } = entry;
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
    const { workflowId: _, ...event } = requestOf(requestId, request, this.#facts);
    return [{ type: 'ApprovalRequestEvent', ...event }];
  }
}

function decisionOf({ outcome }: JournalEntry, grantId: string | undefined): ApprovalDecision {
  if (outcome === 'approved' && grantId !== undefined) return 'approved_always';
  // No other outcome settles a request.
  return outcome === undefined || outcome === 'allowed' || outcome === 'denied_by_policy' || outcome === 'refused'
    ? 'cancelled'
    : outcome;
}
