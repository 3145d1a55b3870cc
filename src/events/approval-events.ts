/** Builds the events of approval requests from journal entries and the run's memo. */
import type { CallOutcome, ApprovalRequest } from '../core/ledger/approval.ts';
import type { ApprovalSummary } from '../core/ledger/approval-index.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import { gapsIn, takeOutcome } from './journal.ts';
import type { HistoryEvent } from './history-event.ts';
import type { ApprovalDecision, EventDraft } from './run-event.ts';
import type { RunFacts, KnownCall } from './run-facts.ts';
import { defaultAssessment, joinAssessments } from '../core/assess/assessment.ts';
import { hideInRequest } from '../core/ledger/hidden-arguments.ts';
import { redactText } from '../core/redact/find-sensitive.ts';
import { withoutHidden } from '../core/redact/join-redactions.ts';
import { redactedArguments, redactedNames } from '../core/redact/redaction.ts';
import type { JsonObject } from '../core/base/tool-call.ts';

export class ApprovalEvents {
  readonly #facts: RunFacts;
  readonly #seen = new SeenEntries();
  #startsLate = false;
  /** The open requests by id, in the order in which they were opened. */
  readonly #open = new Map<string, OpenRequest>();
  readonly #settled = new Set<string>();
  /** The last known outcome of each call, by call id. */
  readonly outcomes = new Map<string, CallOutcome>();

  constructor(facts: RunFacts) {
    this.#facts = facts;
  }

  /** Call this first if the server no longer has the run's beginning: then no entry before the first one is missing. */
  startLate(): void {
    this.#startsLate = true;
  }

  /**
   * Returns the events that follow from a history event, and its new journal entries. The entries are read before the
   * memo (`open`), because the memo already lists the requests that these entries opened.
   */
  add({ journal, open }: HistoryEvent): { drafts: EventDraft[]; entries: JournalEntry[] } {
    const entries = journal.filter(({ seq }) => this.#seen.take(seq));
    if (this.#startsLate) this.#seen.startLate();
    const drafts = entries.flatMap((entry) => this.#readEntry(entry, entries));
    if (open === undefined) return { drafts, entries };
    for (const row of open) this.#readRow(row);
    return { drafts: [...drafts, ...this.#announceAll()], entries };
  }

  /** Returns the last events, once the run has ended: cancellations of its open requests, and gaps in its journal. */
  end(): EventDraft[] {
    const drafts = this.#announceAll();
    for (const [requestId, { opened, row }] of this.#open) {
      const { callId = '', toolName = row?.toolName ?? '' } = opened ?? {};
      const end = { decision: 'cancelled', reason: 'the run ended', reviewerId: null } as const;
      const ran = ranWithoutApproval(opened);
      drafts.push({ type: 'ApprovalResultEvent', requestId, callId, toolName, ...end, ran });
    }
    this.#open.clear();
    for (const [first, last] of this.#seen.missing) {
      const entries = first === last ? `entry ${first}` : `entries ${first} to ${last}`;
      drafts.push({ type: 'gap', reason: 'journal', message: `No payload carries ${entries} of the journal.` });
    }
    return drafts;
  }

  #readEntry(entry: JournalEntry, newEntries: readonly JournalEntry[]): EventDraft[] {
    const { kind, requestId = '', outcome } = entry;
    takeOutcome(this.outcomes, entry);
    if (kind === 'opened') this.#opened(requestId, entry);
    return kind === 'settled' && outcome !== undefined ? this.#settle(entry, newEntries) : [];
  }

  #opened(requestId: string, opened: JournalEntry): void {
    if (this.#settled.has(requestId)) return;
    this.#open.set(requestId, { isAnnounced: false, ...this.#open.get(requestId), opened });
  }

  #readRow(row: ApprovalSummary): void {
    const { requestId } = row;
    if (this.#settled.has(requestId)) return;
    const known = this.#open.get(requestId);
    if (known?.row === undefined) this.#open.set(requestId, { isAnnounced: false, ...known, row });
  }

  /** Returns the event of a settlement. If its request has no event yet, that event precedes. Empty for a repeat. */
  #settle(entry: JournalEntry, newEntries: readonly JournalEntry[]): EventDraft[] {
    const { requestId = '', callId = '', toolName = '', reason = null, reviewerId = null } = entry;
    const { reviewerName, identity, by, byId } = entry;
    if (this.#settled.has(requestId)) return [];
    // If no payload has the entry that opened the request, this entry supplies the facts of the request.
    const known = this.#open.get(requestId) ?? { opened: entry, isAnnounced: false };
    // The answer "always" also makes a grant, whose entry comes in the same payload.
    const grant = newEntries.find((other) => other.kind === 'grant' && other.requestId === requestId);
    const grantId = grant?.grantId;
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
        ran: entry.runs === true ? 'pending' : ranWithoutApproval(known.opened),
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

/** Returns if a call without approval ran: `unknown` if its request asked whether to start it a second time. */
function ranWithoutApproval(opened: JournalEntry | undefined): 'unknown' | 'no' {
  return opened?.kind === 'opened' && opened.by === 'unknown' ? 'unknown' : 'no';
}

/** Names the decision of a settlement. `grantId` is the grant that the decision made, if any. */
function decisionOf({ outcome }: JournalEntry, grantId: string | undefined): ApprovalDecision {
  if (outcome === 'approved' && grantId !== undefined) return 'approved_always';
  switch (outcome) {
    // The settlement of a request never has these outcomes, because only calls without a request get them.
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

/** Remembers which journal entries were seen, because payloads repeat entries and may have them out of order. */
class SeenEntries {
  /** All entries up to this number have been seen. */
  #upTo = 0;
  readonly #beyond = new Set<number>();

  /** Marks an entry as seen. Returns false if it was already. */
  take(seq: number): boolean {
    if (seq <= this.#upTo || this.#beyond.has(seq)) return false;
    this.#beyond.add(seq);
    while (this.#beyond.delete(this.#upTo + 1)) this.#upTo += 1;
    return true;
  }

  /** Counts all entries before the first one that was seen as seen, too. */
  startLate(): void {
    if (this.#upTo > 0 || this.#beyond.size === 0) return;
    this.#upTo = Math.min(...this.#beyond) - 1;
    while (this.#beyond.delete(this.#upTo + 1)) this.#upTo += 1;
  }

  get missing(): [number, number][] {
    return gapsIn(
      [...this.#beyond].sort((one, other) => one - other),
      this.#upTo + 1,
    );
  }
}

/** What is known of an open request: its journal entry, its row in the memo, or both. */
interface OpenRequest {
  /** The entry that opened the request. If no payload has it, `#settle` puts the settlement in its place. */
  opened?: JournalEntry;
  row?: ApprovalSummary;
  isAnnounced: boolean;
}

/**
 * Builds the request for its event from its journal entry, its row in the memo, and the model's call. The event lacks
 * edited arguments, because they are only in payloads that others than the gate can write.
 */
function eventRequest(
  requestId: string,
  { opened, row }: OpenRequest,
  facts: RunFacts,
): ApprovalRequest & { callId: string } {
  const callId = opened?.callId ?? '';
  const replaces = replacedBy(opened);
  const modelCall = replaces?.by === 'edit' ? undefined : callAsModelMadeIt(callId, facts);
  const shownArgs = modelCall === undefined ? undefined : reviewersCopy(modelCall, facts);
  const redacted = redactedNames(modelCall?.redaction?.values ?? []);
  const riskLevel = row?.riskLevel ?? 'unknown';
  // History has the severity that `assess` rules of policies gave, but not their reasons, which are missing here.
  const recorded = modelCall?.assessment === undefined ? [] : [modelCall.assessment];
  const assessment = joinAssessments([defaultAssessment(riskLevel), ...recorded]);
  const { toolName = row?.toolName ?? '', reason = row?.reason ?? '', at = '' } = opened ?? {};
  const severity = opened?.severity ?? row?.severity ?? assessment.severity;
  const request = {
    requestId,
    workflowId: facts.workflowId,
    callId,
    toolName,
    ...argumentsOf(shownArgs, row),
    riskLevel,
    assessment: { ...assessment, severity },
    agentName: row?.agentName ?? opened?.agent ?? '',
    callerUserId: row?.callerUserId ?? facts.callerUserId,
    contextSummary: summaryOf(facts, modelCall, shownArgs),
    rule: opened?.rule ?? row?.rule ?? null,
    reason: row?.reason ?? reason,
    requestedAt: row?.requestedAt ?? at,
    deadline: row?.deadline ?? opened?.deadline ?? null,
    digest: opened?.digest ?? row?.digest ?? '',
    lineage: facts.lineage,
    ...(shownArgs !== undefined && redacted.length > 0 && { redacted }),
    ...(replaces !== undefined && { replaces }),
    metadata: facts.metadata,
    ...(opened?.kind === 'opened' && opened.advice !== undefined && { advice: opened.advice }),
    reviewers: opened?.kind === 'opened' ? [...(opened.to ?? [])] : [],
    ...(row?.shownArguments !== undefined && { shownArguments: row.shownArguments, notShown: row.notShown ?? [] }),
  };
  if (!facts.hidesArguments) return request;
  const { shownArguments: _, notShown: __, redacted: ___, ...hidden } = hideInRequest(request);
  return hidden;
}

/** Returns which request the request of this journal entry replaces, and why; undefined if it replaces none. */
function replacedBy(opened: JournalEntry | undefined): ApprovalRequest['replaces'] {
  if (opened?.kind !== 'opened') return undefined;
  const { by, byId } = opened;
  // There may be no earlier request: a policy may have allowed the call whose outcome is now unknown.
  if (by === 'unknown') return byId == null ? { by } : { requestId: byId, by };
  return by === 'edit' || by === 'definition' || by === 'preview' ? { requestId: byId ?? '', by } : undefined;
}

/** Returns a call with the model's arguments; undefined if it is unknown, or if it ran with other arguments. */
function callAsModelMadeIt(callId: string, facts: RunFacts): KnownCall | undefined {
  const call = facts.calls.get(callId);
  return call?.ran === undefined ? call : undefined;
}

type Arguments = Pick<ApprovalRequest, 'arguments' | 'shown' | 'argumentNames' | 'argumentBytes'>;

/** Returns the arguments as reviewers see them; undefined if it is unknown which parts of them the policies hide. */
function reviewersCopy({ arguments: args, redaction }: KnownCall, facts: RunFacts): JsonObject | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined;
  // The names of arguments stay visible: `eventRequest` calls `hideInRequest`, which removes only the values.
  if (facts.hidesArguments) return args;
  if (facts.mayHideMore) return undefined;
  if (!facts.redacts) return args;
  return redaction === undefined ? undefined : redactedArguments(args, redaction.values);
}

/** The most characters of a summary that are searched: more than are shown, so that no secret is cut in two. */
const mostSearched = 4_000;
/** The most characters of a context summary in an event. */
const mostShown = 500;

/** Returns the context summary as reviewers see it. Empty if it is unknown which parts of it the policies hide. */
function summaryOf(facts: RunFacts, modelCall: KnownCall | undefined, shownArgs: JsonObject | undefined): string {
  const { contextSummary } = facts;
  if (!facts.redacts && !facts.mayHideMore) return contextSummary.slice(0, mostShown);
  if (modelCall?.redaction === undefined || shownArgs === undefined) return '';
  const { kinds, values } = modelCall.redaction;
  const args = modelCall.arguments as JsonObject;
  return redactText(withoutHidden(contextSummary.slice(0, mostSearched), args, values), kinds).slice(0, mostShown);
}

/** Returns the arguments; if they are unknown or must be hidden, only their names and size from the memo. */
function argumentsOf(shownArgs: JsonObject | undefined, row: OpenRequest['row']): Arguments {
  if (shownArgs !== undefined) return { arguments: shownArgs, shown: 'all' };
  const { argumentNames, argumentBytes } = row ?? {};
  return {
    arguments: {},
    shown: 'part',
    ...(argumentNames !== undefined && { argumentNames }),
    ...(argumentBytes !== undefined && { argumentBytes }),
  };
}
