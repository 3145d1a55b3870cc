/**
 * Computes the state on which the next ruling of a run depends: counts, denials, grants and open requests. It follows
 * from the journal alone, so a verifier need not trust the exporter's word for it.
 */
import { withShare, withShareSpent, withoutShare } from '../core/ledger/argument-sums.ts';
import { instantMs } from '../core/messages/control.ts';
import { hiddenText } from '../core/ledger/hidden-arguments.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import type { Ledger, RequestRecord } from '../core/ledger/ledger-state.ts';
import { counted, emptyLedger, irreversibleCount } from '../core/ledger/ledger-state.ts';
import { deniedToolId, heardDenials, withDenial, withoutDenials } from '../core/ledger/denials.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import { grantUsedBy, useGrant } from '../core/ledger/make-grant.ts';
import type { Case } from '../core/ledger/rule-case.ts';
import { withDelegation } from '../core/people/delegation.ts';
import { personKey } from '../core/people/directory.ts';
import { raisedBy, type Raised } from '../core/policy/advice.ts';
import type { Grant } from '../core/policy/grants.ts';
import type { Standing, StandingRequest } from './evidence.ts';

export interface Ruled {
  /** The digest of the call in the evidence. */
  call: string;
  definition: string;
  /** The call that counts for sums of arguments. Absent if history does not keep its arguments. */
  counting?: { tool: string; args: JsonObject };
  answer: Case;
  callerUserId: string | null;
}

/** How many running requests are kept: as many as the ledger keeps settled ones. */
const runningKept = 50;

export function emptyStanding(engine: number): Standing {
  const { counts, denied, grants } = emptyLedger(engine);
  return { seq: 0, engine, counts, denied, grants, open: [], running: [], vague: [] };
}

/**
 * Returns the state after one more entry. `ruled` is the result of the entry's ruling. Absent if the entry has no
 * ruling, or one that cannot be evaluated again; then its call counts as reversible.
 */
export function standingAfter(before: Standing, entry: JournalEntry, ruled?: Ruled): Standing {
  const standing = { ...before, seq: entry.seq, engine: entry.engine };
  const { kind } = entry;
  if (kind === 'ruling') return afterRuling(standing, entry, ruled);
  if (kind === 'opened') return afterOpened(standing, entry, ruled);
  if (kind === 'reruled') return afterReruled(standing, entry, ruled);
  if (kind === 'settled') return afterSettled(standing, entry, ruled);
  if (kind === 'ran') return afterEnd(standing, entry);
  if (kind === 'grant') return afterGrant(standing, entry);
  if (kind === 'heard') return { ...standing, denied: heardDenials(standing.denied) ?? standing.denied };
  if (kind === 'revoked') return afterRevoked(standing, entry);
  if (kind === 'vote') return afterVote(standing, entry);
  if (kind === 'delegated') return afterDelegated(standing, entry);
  // An entry of any other kind changes nothing that later rulings depend on.
  return standing;
}

export function openRequestOf({ open }: Standing, { requestId }: JournalEntry): StandingRequest | undefined {
  return open.find((each) => each.requestId === requestId);
}

/** True if an irreversible call was counted before, under the id that it had before its tool or preview changed. */
export function isCountedBefore({ running }: Standing, { callId = '' }: JournalEntry): boolean {
  // When the tool of call `TURN.INDEX` changes, the gate asks again about `TURN.INDEX.2`, and then `TURN.INDEX.3`.
  const [turn, index, again = '1'] = callId.split('.');
  const earlier = again === '2' ? `${turn}.${index}` : `${turn}.${index}.${Number(again) - 1}`;
  return running.some((each) => each.callId === earlier);
}

/** True if the entry approves its request with edited arguments. */
export function isEdited(standing: Standing, entry: JournalEntry): boolean {
  const { kind, outcome, digest } = entry;
  const request = openRequestOf(standing, entry);
  if (kind !== 'settled' || outcome !== 'approved' || digest === undefined) return false;
  return request !== undefined && digest !== request.digest;
}

/** Counts a call that was decided without a request: its arguments if it runs, its grant's use, and a denial of it. */
function afterRuling(standing: Standing, entry: JournalEntry, ruled: Ruled | undefined): Standing {
  const { outcome, callId = '', toolName = '', digest = '', reason, grantId } = entry;
  const isAllowed = outcome === 'allowed';
  const reversible = ruled === undefined || ruled.answer.assessment.reversible || isCountedBefore(standing, entry);
  const irreversible = isAllowed ? irreversibleCount({ reversible }) : 0;
  const withUse = useGrant(standing, grantUsedBy(entry));
  const withSums = isAllowed ? withShareOf(withUse, callId, ruled) : withUse;
  const next = outcome === 'denied' ? withDenial(withSums, { toolName, digest, reason, grantId }) : withSums;
  return { ...next, counts: counted(next, { calls: 1, irreversible }) };
}

/** Adds an open request, and counts its call unless the request follows another one about the same call. */
function afterOpened(standing: Standing, entry: JournalEntry, ruled: Ruled | undefined): Standing {
  const { requestId = '', callId = '', digest = '', by, byId, at } = entry;
  const irreversible = ruled === undefined ? 0 : irreversibleCount(ruled.answer.assessment);
  const raised = raisedFor(standing, entry);
  const wasStarted = by === 'unknown';
  const isCounted = wasStarted || ((by === 'definition' || by === 'preview') && isCountedBefore(standing, entry));
  const request: StandingRequest = {
    requestId,
    callId,
    digest,
    call: ruled?.call,
    terms: ruled?.answer.terms,
    definition: ruled?.definition,
    delegations: [],
    votes: [],
    requestedAt: at,
    callerUserId: ruled?.callerUserId ?? null,
    irreversible,
    ...(raised !== undefined && { raised }),
    ...onlyPeople(standing, entry),
    ...(by === 'edit' && { isEdit: true as const }),
  };
  // `byId` is the request that this one follows. A call that was started before was counted then, with its arguments.
  const followsOther = byId != null || wasStarted;
  const more = { calls: followsOther ? 0 : 1, asks: 1, irreversible: isCounted ? 0 : irreversible };
  const withSums = wasStarted ? standing : withShareOf(standing, callId, ruled);
  return { ...withSums, open: [...standing.open, request], counts: counted(standing, more) };
}

/** Returns the severity to which advisors raised a call: by this entry, or else by its request or the edited one. */
export function raisedFor(standing: Standing, entry: JournalEntry): Raised | undefined {
  return entry.advice === undefined ? askedBefore(standing, entry)?.raised : raisedBy(entry.advice);
}

/** Returns the request of an entry; for an edited call, the request that the edit answered. */
function askedBefore({ open, settled }: Standing, { kind, requestId, by, byId }: JournalEntry) {
  const asked = kind === 'opened' && by === 'edit' ? byId : requestId;
  return [...open, ...(settled === undefined ? [] : [settled])].find((each) => each.requestId === asked);
}

/**
 * Returns marks for a request that only people may answer: its preview changed after the approval, or its call may
 * have run already. A request that follows from such a request by an edit has the same marks.
 */
export function onlyPeople(
  standing: Standing,
  entry: JournalEntry,
): Pick<StandingRequest, 'peopleOnly' | 'mayHaveRun'> {
  const { kind, by } = entry;
  if (kind === 'opened' && by === 'preview') return { peopleOnly: true };
  if (kind === 'opened' && by === 'unknown') return { peopleOnly: true, mayHaveRun: true };
  const { peopleOnly, mayHaveRun } = askedBefore(standing, entry) ?? {};
  return { ...(peopleOnly && { peopleOnly: true }), ...(mayHaveRun && { mayHaveRun: true }) };
}

/** Gives an open request the terms of a new ruling. A ruling that cannot be evaluated again changes nothing. */
function afterReruled(standing: Standing, entry: JournalEntry, ruled: Ruled | undefined): Standing {
  const before = openRequestOf(standing, entry);
  if (before === undefined || ruled === undefined) return standing;
  const { assessment, terms } = ruled.answer;
  const irreversible = irreversibleCount(assessment);
  const counts = counted(standing, { irreversible: irreversible - before.irreversible });
  return withRequest({ ...standing, counts }, entry.requestId, () => ({ terms, irreversible }));
}

/** Removes a settled request from the open ones, and adjusts the counts, sums, grants and denials to its outcome. */
function afterSettled(standing: Standing, entry: JournalEntry, ruled: Ruled | undefined): Standing {
  const { requestId = '', callId = '', outcome, runs = false, by, byId, toolName = '', digest = '', reason } = entry;
  const settled = openRequestOf(standing, entry);
  const irreversibleBefore = settled?.irreversible ?? 0;
  const isEdit = isEdited(standing, entry);
  const edited = isEdit ? ruled?.answer : undefined;
  const grantOfEdit = edited?.ruling.layer === 'grant' ? edited.ruling.rule : undefined;
  const withUse = useGrant(standing, by === 'grant' ? byId : grantOfEdit);
  const withSums = withSettledShare(withUse, entry, isEdit ? ruled : undefined);
  const changeByEdit = edited === undefined ? 0 : irreversibleCount(edited.assessment) - irreversibleBefore;
  // A call that does not run counts as irreversible no more, unless it may have run before.
  const remainsCounted = runs || settled?.mayHaveRun === true;
  const isRunning = runs && !isEdit && settled?.isEdit !== true && irreversibleBefore > 0;
  const votes = [...(settled?.votes ?? []), decidingVote(entry)];
  const next = {
    ...withSums,
    open: withSums.open.filter((request) => request !== settled),
    counts: counted(withSums, { irreversible: changeByEdit - (remainsCounted ? 0 : irreversibleBefore) }),
    running: isRunning ? [...withSums.running, { requestId, callId }].slice(-runningKept) : withSums.running,
    settled: settled && { ...settled, votes },
  };
  if (outcome !== 'denied') return next;
  return withDenial(next, { toolName, digest, reason, by: { at: entry.at, reviewerId: entry.reviewerId } });
}

/** Returns the vote that settled a request. It has no entry of its own. */
function decidingVote({ reviewerId, identity = 'anonymous', outcome }: JournalEntry): StandingRequest['votes'][number] {
  return { reviewerId, identity, approved: outcome === 'approved' };
}

/** Removes the arguments of a call that does not run from the sums. Those of an edited call are replaced. */
function withSettledShare(
  standing: Standing,
  { callId = '', runs = false }: JournalEntry,
  edited: Ruled | undefined,
): Standing {
  if (!runs) return withoutShare(standing, callId);
  return edited === undefined ? standing : withShareOf(standing, callId, edited);
}

/** Adds the arguments of a call to the sums. Without arguments, the verifier skips rulings that read sums. */
function withShareOf(standing: Standing, callId: string, { counting }: Partial<Ruled> = {}): Standing {
  return counting === undefined ? standing : withShare(standing, callId, counting.tool, counting.args);
}

function afterEnd(standing: Standing, { callId = '', ran }: JournalEntry): Standing {
  return ran === 'no' ? withoutShare(standing, callId) : withShareSpent(standing, callId);
}

/**
 * Adds a grant. An older or redacted entry may have no scope; then the grant is left out. A grant of which the journal
 * lacks a fact counts as vague, so that the verifier does not report a difference that this fact may explain.
 */
function afterGrant(standing: Standing, entry: JournalEntry): Standing {
  const { grantId = '', toolName = '', approved = false, scope, reason } = entry;
  const { requestId, at, voters, uses, expiresAt } = entry;
  if (scope === undefined) return standing;
  const settled = standing.settled?.requestId === requestId ? standing.settled : undefined;
  const grant: Grant = {
    grantId,
    tool: toolName,
    approved,
    scope,
    reason,
    requestId,
    grantedAt: at,
    definition: settled?.definition,
    by: (voters ?? settled?.votes.filter((vote) => vote.approved === approved) ?? []).map((vote) => ({ ...vote })),
    usesLeft: uses,
    expiresAtMs: instantMs(expiresAt),
  };
  const hasHiddenScope = scope.kind === 'arguments' && Object.values(scope.match).includes(hiddenText);
  const isVague = hasHiddenScope || voters === undefined || settled?.definition === undefined;
  return {
    ...standing,
    grants: [...standing.grants, grant],
    vague: isVague ? [...standing.vague, grantId] : standing.vague,
  };
}

/** Adds a vote to its request. A person's later vote replaces the earlier one. */
function afterVote(standing: Standing, entry: JournalEntry): Standing {
  const { requestId, reviewerId, identity = 'anonymous', approved = false } = entry;
  const person = personKey(reviewerId ?? '');
  const isOthers = (vote: { reviewerId?: string }): boolean => personKey(vote.reviewerId ?? '') !== person;
  return withRequest(standing, requestId, ({ votes }) => ({
    votes: [...votes.filter(isOthers), { reviewerId, identity, approved }],
  }));
}

function afterDelegated(standing: Standing, { requestId, reviewerId, to }: JournalEntry): Standing {
  const delegation = { from: reviewerId ?? '', to: to?.[0] ?? '' };
  return withRequest(standing, requestId, ({ delegations }) => ({
    delegations: withDelegation(delegations, delegation, personKey),
  }));
}

function afterRevoked(standing: Standing, { grantId, toolName = '' }: JournalEntry): Standing {
  if (grantId === deniedToolId(toolName)) return { ...standing, denied: withoutDenials(standing.denied, toolName) };
  return { ...standing, grants: standing.grants.filter((each) => each.grantId !== grantId) };
}

/** Replaces the members that `change` returns in the open request with this id, if there is one. */
function withRequest(
  standing: Standing,
  requestId: string | undefined,
  change: (request: StandingRequest) => Partial<StandingRequest>,
): Standing {
  const open = standing.open.map((each) => (each.requestId === requestId ? { ...each, ...change(each) } : each));
  return { ...standing, open };
}

/** Returns the parts of a ledger that later rulings depend on. `callOf` returns the digest of a request's call. */
export function standingOf(ledger: Ledger, callOf: (record: RequestRecord) => string | undefined): Standing {
  const { seq, engine, counts, sums, denied, grants, open, settled } = ledger;
  // As in `afterSettled`, an edited call is not kept.
  const running = settled.filter(({ settlement, request }) => {
    return settlement.runs && settlement.edited === undefined && irreversibleCount(request.assessment) > 0;
  });
  return {
    seq,
    engine,
    counts,
    ...(sums !== undefined && { sums }),
    denied,
    grants,
    open: open.map((record) => standingRequest(record, callOf(record))),
    running: running.map(({ callId, request: { requestId } }) => ({ callId, requestId })),
    vague: [],
  };
}

/** Converts a request of the ledger. `call` is the digest of its call, if the evidence has that call. */
function standingRequest(record: RequestRecord, call: string | undefined): StandingRequest {
  const { callId, request, terms, votes, delegations, ruled } = record;
  const { requestId, digest, requestedAt, callerUserId, assessment, replaces } = request;
  return {
    requestId,
    callId,
    digest,
    ...(call !== undefined && { call }),
    terms,
    definition: ruled.definition,
    delegations,
    votes: votes.map(({ reviewerId, identity, approved }) => ({ reviewerId, identity, approved })),
    requestedAt,
    callerUserId,
    irreversible: irreversibleCount(assessment),
    ...(ruled.raised !== undefined && { raised: ruled.raised }),
    ...(ruled.peopleOnly === true && { peopleOnly: true as const }),
    ...(ruled.mayHaveRun === true && { mayHaveRun: true as const }),
    ...(replaces?.by === 'edit' && { isEdit: true as const }),
  };
}
