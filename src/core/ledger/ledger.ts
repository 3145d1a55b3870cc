/**
 * The run's record of calls, requests, votes, grants and refusals. From a ledger and a command, `reduce` makes the
 * next ledger, the journal entries about the decisions, and a receipt. It reads no clock: each command has its time,
 * and a decision counts unless that is after the deadline (I6).
 */
import type { BoundFacts } from '../base/bound-preview.ts';
import { revokedOf } from '../people/revoked.ts';
import { withShare } from './argument-sums.ts';
import type { OutcomeName, Receipt, RefusedDecision, ReviewerVote, Settlement } from './approval.ts';
import type { AskTerms } from '../policy/ask-terms.ts';
import { decide, type DecideCommand } from './decide.ts';
import { delegate, extend, senderIn, type DelegateCommand, type ExtendCommand } from './extend-and-delegate.ts';
import { entitlement, tally, type Voter } from '../people/entitlement.ts';
import { deniedToolId, heardDenials, isDeniedBefore, toolsToLift, withDenial, withoutDenials } from './denials.ts';
import type { DueStep } from './escalation.ts';
import type { RequestRecord, Directories, Ledger, Reduction } from './ledger-state.ts';
import {
  answeredKept,
  chained,
  counted,
  irreversibleCount,
  iso,
  journaled,
  findOpen,
  refusalOf,
  refusedKept,
  unchanged,
  withOutcome,
  withRequest,
} from './ledger-state.ts';
import { withAllowed } from './earlier-run.ts';
import { denialOver, grantUsedBy, useGrant } from './make-grant.ts';
import { factsOf, openRequest } from './open-request.ts';
import { panelOf, personKeyOfRun } from './panel.ts';
import type { Advice } from '../policy/advice.ts';
import type { Ruling } from '../policy/ruling.ts';
import type { JsonObject } from '../base/tool-call.ts';
import { type EndCommand, recordEnd } from './admission.ts';
import { settle, votedFields } from './settle.ts';
import type { ShownArguments } from './shown-arguments.ts';

export { emptyLedger, requestOf, iso, settledKept } from './ledger-state.ts';
export type { RequestRecord, Directories, Ledger, Reduction, SettledRequest } from './ledger-state.ts';
export type { CheckedEdit } from './decide.ts';

export type LedgerCommand =
  | RuleCommand
  | { kind: 'open'; atMs: number; record: RequestRecord; ruling: Ruling }
  | DecideCommand
  | { kind: 'expire' | 'cancel'; atMs: number; requestId: string; reason?: string }
  | SupersedeCommand
  | UpdateTermsCommand
  | ShowCommand
  /** A preview that an approval binds is finished. The journal gets no entry, because this decides nothing. */
  | { kind: 'bind'; requestId: string; bound: BoundFacts | 'unknown' }
  | ExtendCommand
  | DelegateCommand
  /** Steps of a waiting request, taken together (escalation.ts). `reviewers`: who is asked from now on. */
  | { kind: 'step'; atMs: number; requestId: string; steps: DueStep[]; reviewers: string[] }
  | { kind: 'revoke'; atMs: number; grants: string[] | 'all'; voter?: Voter; reason?: string; operatorMs?: number }
  /** `operatorMs`: when an operator signed the message. */
  | { kind: 'policy'; atMs: number; policyDigest: string; voter?: Voter; reason?: string; operatorMs?: number }
  /** The user of a session has sent a message. `digest`: that of its content, which the journal does not have. */
  | { kind: 'message'; atMs: number; digest: string; voter: Voter; reason?: string }
  /** The model receives the messages of a session's user. */
  | { kind: 'heard'; atMs: number }
  /** A message was answered; a retry gets the same receipt. */
  | { kind: 'answer'; messageId: string; contentDigest: string; receipt: Receipt }
  | { kind: 'refuse'; atMs: number; refused: RefusedDecision }
  | EndCommand;

/** Settles a call at once, without a request: by the policy, by a reviewer's earlier decision, or by a limit. */
interface RuleCommand {
  kind: 'rule';
  atMs: number;
  callId: string;
  toolName: string;
  outcome: OutcomeName;
  ruling?: Ruling;
  digest?: string;
  reason?: string;
  /** The standing denial that denied the call. */
  grantId?: string;
  /** For `cached`: the call whose result answers this one. */
  resultOf?: string;
  /** Default true. */
  reversible?: boolean;
  /** The arguments of an allowed call, which sums count. Absent: none. */
  args?: JsonObject;
  advice?: readonly Advice[];
}

/** Settles a request about which a changed policy no longer asks. */
interface SupersedeCommand {
  kind: 'supersede';
  atMs: number;
  requestId: string;
  runs: boolean;
  ruling: Ruling;
}

/** Gives a request the terms of a changed policy. Its deadline stays. */
interface UpdateTermsCommand {
  kind: 'updateTerms';
  atMs: number;
  requestId: string;
  terms: AskTerms;
  request: Pick<RequestRecord['request'], 'rule' | 'rulePlace' | 'reason' | 'reviewers' | 'assessment'>;
}

/** Shows reviewers more or less after a change of the policy. The journal gets no entry: this decides nothing. */
interface ShowCommand extends Pick<RequestRecord, 'hidden' | 'redaction'> {
  kind: 'show';
  requestId: string;
  shown: Partial<ShownArguments>;
}

/** Applies a command. `directories`: the members of groups, by the run's policies. Default: groups have no members. */
export function reduce(ledger: Ledger, command: LedgerCommand, directories: Directories = {}): Reduction {
  switch (command.kind) {
    case 'rule':
      return rule(ledger, command);
    case 'open':
      return openRequest(ledger, command.record, command.ruling, command.atMs, directories);
    case 'decide':
      return decide(ledger, command, directories);
    case 'expire':
    case 'cancel':
      return lapse(ledger, command);
    case 'supersede':
      return supersede(ledger, command);
    case 'updateTerms':
      return updateTerms(ledger, command, directories);
    case 'show':
      return show(ledger, command);
    case 'bind':
      return bind(ledger, command);
    case 'extend':
      return extend(ledger, command, directories);
    case 'delegate':
      return delegate(ledger, command, directories);
    case 'step':
      return step(ledger, command);
    case 'revoke':
      return revoke(ledger, command);
    case 'policy':
      return policy(ledger, command);
    case 'message':
      return message(ledger, command);
    case 'heard':
      return heard(ledger, command.atMs);
    case 'answer':
      return answer(ledger, command);
    case 'refuse':
      return refuse(ledger, command);
    case 'ran':
      return recordEnd(ledger, command);
  }
}

/** Records how a call without a request was answered: counts it, takes one use of its grant, keeps a denial. */
function rule(ledger: Ledger, command: RuleCommand): Reduction {
  const { atMs, callId, toolName, outcome, ruling, digest, reason, grantId, resultOf, advice } = command;
  const { reversible = true } = command;
  const isAllowed = outcome === 'allowed';
  const ran = isAllowed ? ('pending' as const) : ('no' as const);
  const call = { callId, toolName, outcome, ran, ...(resultOf !== undefined && { resultOf }) };
  let next = useGrant(ledger, grantUsedBy({ outcome, layer: ruling?.layer, rule: ruling?.rule, grantId }));
  if (outcome === 'denied') next = withDenial(next, { toolName, digest: digest ?? '', reason, grantId });
  if (isAllowed) next = withShare(next, callId, toolName, command.args ?? {});
  if (isAllowed && digest !== undefined) next = withAllowed(next, { callId, digest, atMs });
  const counts = counted(next, { calls: 1, irreversible: isAllowed ? irreversibleCount({ reversible }) : 0 });
  return journaled(unchanged({ ...next, counts, outcomes: withOutcome(ledger, call) }), atMs, {
    kind: 'ruling',
    callId,
    toolName,
    outcome,
    digest,
    grantId,
    resultOf,
    advice,
    ...factsOf(ruling),
    reason: reason ?? ruling?.reason,
  });
}

/** Settles an open request without a new decision: its deadline has passed (`expire`), or the run withdraws it. */
function lapse(ledger: Ledger, command: Extract<LedgerCommand, { kind: 'expire' | 'cancel' }>): Reduction {
  const { kind, atMs, requestId, reason } = command;
  const record = findOpen(ledger, requestId);
  if (record === undefined) return unchanged(ledger);
  const settledAt = iso(atMs);
  if (kind === 'cancel') return settle(ledger, record, { outcome: 'cancelled', runs: false, reason, settledAt }, atMs);
  const mayRun = record.terms.onTimeout === 'allow';
  const denial = mayRun ? record.votes.findLast(({ approved }) => !approved) : undefined;
  // Before a call runs at its deadline, a denial settles it: the approvals that it still needed can no longer come.
  if (denial !== undefined)
    return settle(ledger, record, { outcome: 'denied', runs: false, ...votedFields(denial), settledAt }, atMs);
  // A time-out is never reported as a person's decision, even if it lets the call run (I15).
  const runs = mayRun && !wasDenied(ledger, record, atMs);
  return settle(ledger, record, { outcome: 'expired', runs, reason, settledAt }, atMs);
}

/** True if a reviewer denied an identical call at any time of the run, or a standing denial covers this call. */
function wasDenied(ledger: Ledger, record: RequestRecord, atMs: number): boolean {
  return isDeniedBefore(ledger.denied, record.request.digest) || denialOver(ledger, record, atMs) !== undefined;
}

/** Settles an open request that policies or a grant now answer. A denial that covers the call comes first. */
function supersede(ledger: Ledger, { atMs, requestId, runs, ruling }: SupersedeCommand): Reduction {
  const record = findOpen(ledger, requestId);
  if (record === undefined) return unchanged(ledger);
  const settledAt = iso(atMs);
  const denial = runs ? denialOver(ledger, record, atMs) : undefined;
  if (denial !== undefined) {
    const { grantId: byId, reason } = denial;
    return settle(ledger, record, { outcome: 'superseded', runs: false, by: 'grant', byId, reason, settledAt }, atMs);
  }
  const { rule: byId, reason } = ruling;
  const isGranted = ruling.layer === 'grant';
  const by = isGranted ? 'grant' : 'policy';
  const settlement: Settlement = { outcome: 'superseded', runs, by, byId, reason, settledAt };
  const grantedBy = isGranted ? ledger.grants.find(({ grantId }) => grantId === byId)?.by : undefined;
  return settle(useGrant(ledger, isGranted ? byId : undefined), { ...record, grantedBy }, settlement, atMs);
}

/** Gives an open request new terms. The votes that still count may settle the request at once. */
function updateTerms(ledger: Ledger, command: UpdateTermsCommand, directories: Directories): Reduction {
  const { atMs, requestId, terms, request } = command;
  const record = findOpen(ledger, requestId);
  if (record === undefined) return unchanged(ledger);
  const panel = panelOf({ ...record, terms }, directories, atMs);
  const keyOf = personKeyOfRun(directories);
  const isRevoked = (vote: ReviewerVote): boolean => revokedOf(directories.revoked, vote, keyOf) !== undefined;
  // A vote is dropped if its reviewer may no longer decide, but the denial of a revoked reviewer stays.
  const votes = record.votes.filter(
    (vote) => entitlement(panel, vote, vote.approved) === undefined || (!vote.approved && isRevoked(vote)),
  );
  const changed: RequestRecord = { ...record, terms, votes, request: { ...record.request, ...request } };
  const { outcome } = tally(panel, votes);
  const { callId, toolName } = { ...record, ...record.request };
  const { rule, reason: why, reviewers: to } = changed.request;
  const entry = { kind: 'reruled', callId, requestId, toolName, rule, reason: why, to } as const;
  const irreversible = irreversibleCount(changed.request.assessment) - irreversibleCount(record.request.assessment);
  const counts = counted(ledger, { irreversible });
  const reruled = journaled(unchanged({ ...withRequest(ledger, changed), counts }), atMs, entry);
  const last = changed.votes.at(-1);
  if (outcome === undefined || last === undefined) return reruled;
  const settlement: Settlement = { outcome, runs: outcome === 'approved', ...votedFields(last), settledAt: iso(atMs) };
  return chained(reruled, (next) => settle(next, changed, settlement, atMs));
}

function show(ledger: Ledger, { requestId, shown, hidden, redaction }: ShowCommand): Reduction {
  const record = findOpen(ledger, requestId);
  if (record === undefined) return unchanged(ledger);
  const { shownArguments, notShown } = shown;
  const request = { ...record.request, shownArguments, notShown };
  return unchanged(withRequest(ledger, { ...record, request, hidden, redaction }));
}

/**
 * Records the facts of a preview, if the request has one that binds and shows it. Neither of two different previews
 * binds, because reviewers may have seen either.
 */
function bind(ledger: Ledger, { requestId, bound }: Extract<LedgerCommand, { kind: 'bind' }>): Reduction {
  const record = findOpen(ledger, requestId);
  if (record?.bound === undefined || record.bound === 'hidden') return unchanged(ledger);
  const { bound: before } = record;
  const isSame = typeof before === 'object' && typeof bound === 'object' && before.digest === bound.digest;
  return unchanged(withRequest(ledger, { ...record, bound: before === 'pending' || isSame ? bound : 'unknown' }));
}

/** Records reminders, escalations and warnings that are sent now. `reviewers`: all who are asked from now on. */
function step(ledger: Ledger, command: Extract<LedgerCommand, { kind: 'step' }>): Reduction {
  const { atMs, requestId, steps, reviewers } = command;
  const record = findOpen(ledger, requestId);
  if (record === undefined) return unchanged(ledger);
  const { callId, request } = record;
  const { toolName, deadline } = request;
  const taken = withRequest(ledger, { ...record, stepsTakenUntilMs: atMs, request: { ...request, reviewers } });
  return steps.reduce(
    (reduction, { kind, to }) => journaled(reduction, atMs, { kind, callId, requestId, toolName, deadline, to }),
    unchanged(taken),
  );
}

/** Ends the grants and denials of tools with these ids, or all grants. One unknown id refuses the whole message. */
function revoke(ledger: Ledger, command: Extract<LedgerCommand, { kind: 'revoke' }>): Reduction {
  const { atMs, grants, voter, reason, operatorMs = ledger.operatorMs } = command;
  const endedGrants = ledger.grants.filter(({ grantId }) => grants === 'all' || grants.includes(grantId));
  const liftedTools = grants === 'all' ? [] : toolsToLift(ledger, grants);
  const liftedDenials = liftedTools.map((tool) => ({ grantId: deniedToolId(tool), tool, approved: false }));
  const ended = [...endedGrants, ...liftedDenials];
  const missing = grants === 'all' ? undefined : grants.find((id) => !ended.some(({ grantId }) => grantId === id));
  if (missing !== undefined) return refusalOf(ledger, '', 'grant_unknown', `this run has no grant '${missing}'`);
  const denied = liftedTools.reduce(withoutDenials, ledger.denied);
  const left = { ...ledger, operatorMs, denied, grants: ledger.grants.filter((each) => !endedGrants.includes(each)) };
  return ended.reduce(
    (reduction, { grantId, tool, approved }) =>
      journaled(reduction, atMs, { kind: 'revoked', grantId, toolName: tool, approved, reason, ...senderIn(voter) }),
    unchanged(left),
  );
}

/** Records that a message changed the policy. `operatorMs`: when an operator signed it, if it loosened something. */
function policy(ledger: Ledger, command: Extract<LedgerCommand, { kind: 'policy' }>): Reduction {
  const { atMs, policyDigest, voter, reason, operatorMs = ledger.operatorMs } = command;
  return journaled(unchanged({ ...ledger, operatorMs }), atMs, {
    kind: 'policy',
    policyDigest,
    reason,
    ...senderIn(voter),
  });
}

function message(ledger: Ledger, command: Extract<LedgerCommand, { kind: 'message' }>): Reduction {
  const { kind, atMs, digest, voter, reason } = command;
  return journaled(unchanged(ledger), atMs, { kind, digest, reason, ...senderIn(voter) });
}

function heard(ledger: Ledger, atMs: number): Reduction {
  const denied = heardDenials(ledger.denied);
  return denied === undefined
    ? unchanged(ledger)
    : journaled(unchanged({ ...ledger, denied }), atMs, { kind: 'heard' });
}

/** Keeps the receipt of a message by its id, so that a retry of the message gets the same receipt. */
function answer(
  ledger: Ledger,
  { messageId, contentDigest, receipt }: Extract<LedgerCommand, { kind: 'answer' }>,
): Reduction {
  return unchanged({
    ...ledger,
    answered: [...ledger.answered, { messageId, contentDigest, receipt }].slice(-answeredKept),
  });
}

function refuse(ledger: Ledger, { atMs, refused }: Extract<LedgerCommand, { kind: 'refuse' }>): Reduction {
  const { last, total } = ledger.refused;
  const next = { ...ledger, refused: { last: [...last, refused].slice(-refusedKept), total: total + 1 } };
  // Only the first refusals have journal entries, so that messages cannot flood the journal (I4).
  if (total >= refusedKept) return unchanged(next);
  return journaled(unchanged(next), atMs, { kind: 'refused', ...refused });
}
