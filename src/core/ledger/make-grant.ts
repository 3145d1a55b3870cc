import { shownGrant, hiddenNames } from './hidden-arguments.ts';
import type { OutcomeName, ReviewerVote, Settlement } from './approval.ts';
import type { JournalEntry } from './journal-entry.ts';
import type { RequestedScope } from '../messages/decision.ts';
import { tally } from '../people/entitlement.ts';
import type { Grant, GrantedCall, GrantScope } from '../policy/grants.ts';
import { coversCommand, defaultAlways, grantFor, isOfDefinition, standingDenial, unmatched } from '../policy/grants.ts';
import type { RequestRecord, Directories, Ledger, Reduction } from './ledger-state.ts';
import { chained, iso, journaled, maxGrants } from './ledger-state.ts';
import { panelOf, type Asked } from './panel.ts';
import { parseDuration } from '../base/duration.ts';
import { grantKinds, type GrantKind } from '../policy/policy.ts';
import { readyCall } from '../policy/ruling.ts';
import { grantedCommand } from '../policy/whole-call.ts';
import { settle } from './settle.ts';

/** The grant for an "always", or the reason for none. `note` continues the message of the receipt. */
export interface Granted {
  reduction: Reduction;
  grantId?: string;
  note: string;
  settled: { requestId: string; outcome: OutcomeName }[];
}

/**
 * Makes the grant that `votes` ask for, and settles the open requests that the grant answers. Every vote must ask for
 * a grant. The narrowest one counts, and is no wider than the asking rules admit.
 */
export function makeGrant(
  reduction: Reduction,
  record: RequestRecord,
  votes: readonly ReviewerVote[],
  atMs: number,
  directories: Directories,
): Granted {
  const nothing = { reduction, settled: [] };
  const requested = votes.map(({ always }) => always);
  if (requested.every((each) => each === undefined || each === false)) return { ...nothing, note: '' };
  if (!requested.every((each) => each !== undefined && each !== false)) {
    return { ...nothing, note: '; no grant: not every approving reviewer asked for one' };
  }
  const approved = votes[0]!.approved;
  const scope = scopeOf(requested, record);
  if (typeof scope === 'string') return { ...nothing, note: `; no grant: ${scope}` };
  const { ledger } = reduction;
  if (approved && !wouldSettle(votes, record, atMs, directories)) {
    return { ...nothing, note: '; no grant: a delegation is for this request alone' };
  }
  if (ledger.grants.length >= maxGrants) {
    return { ...nothing, note: `; no grant: this run has ${maxGrants} already, revoke some` };
  }
  const grantId = `grant-${ledger.granted + 1}`;
  const { toolName, requestId } = record.request;
  const reason = votes.at(-1)!.reason;
  const grant: Grant = {
    grantId,
    tool: toolName,
    approved,
    scope: scope.scope,
    reason,
    ...limitsOf(requested, atMs),
    by: votes.map(({ reviewerId, reviewerName, identity, keyId }) => ({
      reviewerId,
      ...(reviewerName !== undefined && { reviewerName }),
      identity,
      ...(keyId !== undefined && { keyId }),
    })),
    definition: record.ruled.definition,
    requestId,
    grantedAt: iso(atMs),
    hidden: record.hidden,
    ...redactedIn(record),
  };
  const made = journaled(
    { ...reduction, ledger: { ...ledger, grants: [...ledger.grants, grant], granted: ledger.granted + 1 } },
    atMs,
    {
      kind: 'grant',
      grantId,
      requestId,
      toolName,
      approved,
      scope: shownGrant(grant, true).scope,
      reason,
      voters: grant.by,
      uses: grant.usesLeft,
      expiresAt: grant.expiresAtMs === undefined ? undefined : iso(grant.expiresAtMs),
    },
  );
  const released = settleAnswered(made, grantId, atMs, directories);
  const note = `; ${approved ? '' : 'standing denial '}${grantId} (${scope.scope.kind})${scope.narrowed ? ', narrowed to what the rule admits' : ''}`;
  return { ...released, grantId, note };
}

function redactedIn(record: RequestRecord): Pick<Grant, 'redacted'> {
  const redacted = hiddenNames(record);
  return redacted.length === 0 ? {} : { redacted };
}

/** True if the reviewers who made the grant could settle this request: otherwise the grant does not answer it. */
export function grantAnswers(grant: Grant, asked: Asked, directories: Directories, atMs: number): boolean {
  const votes = (grant.by ?? []).map((voter) => ({ ...voter, approved: grant.approved }));
  return tally(panelOf(asked, directories, atMs), votes).outcome === (grant.approved ? 'approved' : 'denied');
}

/** The parts of a request that determine which grants answer it. */
export type GrantableRequest = Asked & {
  request: Pick<RequestRecord['request'], 'toolName' | 'arguments' | 'digest'>;
  ruled: Pick<RequestRecord['ruled'], 'definition' | 'subject' | 'shell' | 'beside' | 'peopleOnly'>;
};

/** The standing denial that answers an open request, else the grant, unless only people may answer (`peopleOnly`). */
export function grantOver(
  ledger: Pick<Ledger, 'grants'>,
  record: GrantableRequest,
  directories: Directories,
  atMs: number,
): Grant | undefined {
  const call = grantedCall(record, atMs);
  const answering = ledger.grants.filter(
    (grant) =>
      grant.tool === record.request.toolName &&
      isOfDefinition(grant, record.ruled.definition) &&
      grantAnswers(grant, record, directories, atMs),
  );
  const denial = standingDenial(answering, call);
  if (denial !== undefined || record.ruled.peopleOnly === true) return denial;
  return grantFor(answering, call, record.terms.always);
}

/** The standing denial that covers a request's call. Its authors need not be reviewers of this request. */
export function denialOver(ledger: Ledger, record: GrantableRequest, atMs: number): Grant | undefined {
  const denials = ledger.grants.filter(({ approved }) => !approved);
  if (denials.length === 0) return undefined;
  return standingDenial(denials, grantedCall(record, atMs));
}

/** True if the approvals suffice without delegations. A grant that needs delegations would answer no other call. */
function wouldSettle(
  votes: readonly ReviewerVote[],
  record: RequestRecord,
  atMs: number,
  directories: Directories,
): boolean {
  if (record.delegations.length === 0) return true;
  return tally({ ...panelOf(record, directories, atMs), delegations: [] }, votes).outcome === 'approved';
}

function grantedCall({ request, ruled }: GrantableRequest, atMs: number | undefined): GrantedCall {
  const { toolName: tool, arguments: args, digest } = request;
  // The risk is a placeholder, because grants do not read it.
  const call = { tool, args, risk: 'unknown' as const, ...ruled };
  return { digest, atMs, ready: readyCall(call, {}), command: grantedCommand(call) };
}

/** The grant of which a ruling takes one use: the one that allowed, or `grantId`, which denied. None if `cached`. */
export function grantUsedBy(
  ruled: Partial<Pick<JournalEntry, 'outcome' | 'layer' | 'rule' | 'grantId'>>,
): string | null | undefined {
  const { outcome, layer, rule, grantId } = ruled;
  if (outcome === 'cached') return undefined;
  return layer === 'grant' ? rule : grantId;
}

/** Takes one use from a grant. A grant without uses left is removed. */
export function useGrant<Granting extends Pick<Ledger, 'grants'>>(
  ledger: Granting,
  grantId: string | null | undefined,
): Granting {
  const grants = ledger.grants.flatMap((grant) => {
    if (grant.grantId !== grantId || grant.usesLeft === undefined) return [grant];
    return grant.usesLeft <= 1 ? [] : [{ ...grant, usesLeft: grant.usesLeft - 1 }];
  });
  return { ...ledger, grants };
}

/** Settles, before their deadlines, the open requests that the new grant answers, while it has uses left. */
function settleAnswered(made: Reduction, grantId: string, atMs: number, directories: Directories): Granted {
  let reduction = made;
  const settled: Granted['settled'] = [];
  for (const record of made.ledger.open) {
    const grant = grantOver(reduction.ledger, record, directories, atMs);
    if (grant?.grantId !== grantId || (record.deadlineMs !== null && atMs > record.deadlineMs)) continue;
    // A denial that covers the call comes first, even if its authors are no reviewers of this request.
    const answer = (grant.approved ? denialOver(reduction.ledger, record, atMs) : undefined) ?? grant;
    const settlement: Settlement = {
      outcome: 'superseded',
      runs: answer.approved,
      by: 'grant',
      byId: answer.grantId,
      reason: answer.reason,
      settledAt: iso(atMs),
    };
    const answered = { ...record, grantedBy: answer.by };
    reduction = chained(reduction, (ledger) => settle(useGrant(ledger, answer.grantId), answered, settlement, atMs));
    settled.push({ requestId: record.request.requestId, outcome: 'superseded' });
  }
  return { reduction, settled, note: '' };
}

/** The narrowest scope that the votes request and the rules admit; or why there is no grant, as a clause. */
function scopeOf(
  requested: readonly (boolean | RequestedScope | undefined)[],
  record: RequestRecord,
): { scope: GrantScope; narrowed: boolean } | string {
  const { request, terms, ruled } = record;
  const { riskLevel: risk, digest } = request;
  const widest = terms.always;
  if (widest === false) return 'the rule that asked admits none';
  const usual: GrantKind = defaultAlways({ risk, shell: ruled.shell });
  const kinds = requested.map((each) => (typeof each === 'object' ? each.kind : usual));
  const requestedKind = grantKinds.find((kind) => kinds.includes(kind))!;
  const narrowed = grantKinds.indexOf(requestedKind) > grantKinds.indexOf(widest);
  // A grant that is too wide is narrowed to `call`, because there may be no globs for kind `arguments`.
  if (narrowed || requestedKind === 'call') return { scope: { kind: 'call', digest }, narrowed };
  if (requestedKind === 'tool') return { scope: { kind: 'tool' }, narrowed };
  const globs = requested.flatMap((each) => (typeof each === 'object' && each.match !== undefined ? [each.match] : []));
  const match = Object.assign({}, ...globs) as Record<string, string>;
  // Two different globs on one argument cannot be one grant.
  const isMerged = globs.every((each) => Object.entries(each).every(([name, glob]) => match[name] === glob));
  const problem = globsProblem(match, record);
  if (problem !== undefined) return problem;
  return isMerged ? { scope: { kind: 'arguments', match }, narrowed } : unfitting;
}

const unfitting = `'always.match' does not fit the call that was asked about`;

/** Why a grant with these globs would not answer the call that was asked about, as a clause. */
function globsProblem(match: Record<string, string>, record: RequestRecord): string | undefined {
  const scope = { kind: 'arguments', match } as const;
  const grant = { grantId: '', tool: record.request.toolName, approved: true, scope };
  const call = grantedCall(record, undefined);
  const { undeclared } = call.ready;
  const mustBeNamed = call.command === undefined ? undeclared : [call.command.subject, ...undeclared];
  const [missing] = unmatched(scope, mustBeNamed);
  if (missing !== undefined) return `'always.match' must name '${missing}' too`;
  if (!coversCommand(grant, call)) return `'always.match' must match each part of the command by itself`;
  return grantFor([grant], call, 'arguments') === undefined ? unfitting : undefined;
}

/** The expiry and the uses of the new grant: the shortest time and the fewest uses in any vote. */
function limitsOf(requested: readonly unknown[], atMs: number): Pick<Grant, 'expiresAtMs' | 'usesLeft'> {
  const scopes = requested.filter((each): each is RequestedScope => typeof each === 'object' && each !== null);
  const durations = scopes.flatMap(({ expiresIn }) => {
    const parsed = expiresIn === undefined ? undefined : parseDuration(expiresIn);
    return parsed !== undefined && 'durationMs' in parsed && parsed.durationMs !== null ? [parsed.durationMs] : [];
  });
  const uses = scopes.flatMap(({ uses: count }) => count ?? []);
  return {
    ...(durations.length > 0 && { expiresAtMs: atMs + Math.min(...durations) }),
    ...(uses.length > 0 && { usesLeft: Math.min(...uses) }),
  };
}

/** What an "always" for an open request may cover. Channels that offer one read it. */
export interface AlwaysTerms {
  /** The widest grant that the asking rules admit. A wider one is narrowed to `call`. */
  widest: GrantKind;
  /** For a shell command: a grant of kind `arguments` must match each part, and name every argument not in `beside`. */
  command?: { argument: string; beside: string[] };
}

/** What an "always" of this request may cover; undefined if the rules admit no grant. */
export function alwaysTermsOf({ terms, ruled }: Pick<RequestRecord, 'terms' | 'ruled'>): AlwaysTerms | undefined {
  const { always: widest } = terms;
  if (widest === false) return undefined;
  const { subject, shell, beside = [] } = ruled;
  if (subject === undefined || shell === undefined) return { widest };
  return { widest, command: { argument: subject, beside: [...beside] } };
}

/** Which "always" a card offers: `chosen`, in a second step, if rules admit all kinds; else the widest; false: none. */
export function chosenScope(terms: AlwaysTerms | undefined): GrantKind | 'chosen' | false {
  if (terms === undefined) return false;
  return terms.widest === 'tool' ? 'chosen' : terms.widest;
}

/** The scope of an "always" on a single button, which reviewers cannot narrow. */
export function pressedScope({ widest }: AlwaysTerms): RequestedScope {
  return { kind: widest === 'tool' ? 'tool' : 'call' };
}
