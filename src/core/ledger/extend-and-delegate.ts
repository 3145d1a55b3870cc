import { whyNotApproved } from '../people/cannot-be-approved.ts';
import { withDelegation, type Delegation } from '../people/delegation.ts';
import { delegationProblem, takeBackProblem } from '../people/delegation-problem.ts';
import type { Problem } from '../base/problem.ts';
import { entitlement, isCaller, shortageIn, type Panel, type Voter } from '../people/entitlement.ts';
import { personKey } from '../people/directory.ts';
import { revokedOf, revokedSentence } from '../people/revoked.ts';
import type { RequestRecord, Directories, Ledger, Reduction } from './ledger-state.ts';
import { iso, journaled, findOpen, refusalOf, unchanged, withRequest } from './ledger-state.ts';
import { lastPanelOf, panelOf, withoutRevoked } from './panel.ts';
import { notOpenReceipt } from './settle.ts';
import { openedAtMs } from './escalation.ts';
import { longestWaitMs } from '../policy/limits.ts';
import type { PolicyLayers } from '../policy/policy.ts';

export interface ExtendCommand {
  kind: 'extend';
  atMs: number;
  requestId: string;
  untilMs: number;
  /** When the longest wait that the ceiling allows ends, in workflow time; null: never. */
  latestMs: number | null;
  voter: Voter;
  reason?: string;
}

export interface DelegateCommand {
  kind: 'delegate';
  atMs: number;
  requestId: string;
  to: string;
  voter: Voter;
  reason?: string;
  /** The reviewer whose seat an operator moves. Absent: senders give their own seat. */
  from?: string;
  /** True: the message is signed with an operator's key. */
  operator?: boolean;
}

const maxDelegations = 50;

/** Moves the deadline of an open request to a later time, at most to `latestMs`; or refuses to. */
export function extend(ledger: Ledger, command: ExtendCommand, directories: Directories): Reduction {
  const { atMs, requestId, untilMs, latestMs, voter, reason } = command;
  const found = answerable(ledger, requestId, atMs, voter, directories);
  if ('entries' in found) return found;
  const { callId, deadlineMs, request } = found;
  if (deadlineMs === null)
    return refusalOf(ledger, requestId, 'invalid_message', `request ${requestId} has no deadline`);
  if (latestMs !== null && untilMs > latestMs) {
    const message = `the operator's policy lets request ${requestId} wait until ${iso(latestMs)} at most`;
    return refusalOf(ledger, requestId, 'not_permitted_by_ceiling', message);
  }
  if (untilMs <= deadlineMs) {
    const message = `'until' must be after the present deadline, ${iso(deadlineMs)}`;
    return refusalOf(ledger, requestId, 'invalid_message', message);
  }
  const deadline = iso(untilMs);
  const extended: RequestRecord = { ...found, deadlineMs: untilMs, request: { ...request, deadline } };
  const receipt = { requestId, accepted: true, message: `request ${requestId} waits until ${deadline}` };
  return journaled(unchanged(withRequest(ledger, extended), receipt), atMs, {
    kind: 'extended',
    callId,
    requestId,
    toolName: request.toolName,
    deadline,
    reason,
    ...senderIn(voter),
  });
}

/** Gives the seat of one reviewer to another person, or back to its owner; or refuses to. */
export function delegate(ledger: Ledger, command: DelegateCommand, directories: Directories): Reduction {
  const { atMs, requestId, to, reason } = command;
  const found = openInTime(ledger, requestId, atMs, directories);
  if ('entries' in found) return found;
  const { callId, request, delegations } = found;
  const panel = panelOf(found, directories, atMs);
  const giver = giverOf(command, panel);
  if ('code' in giver) return refusalOf(ledger, requestId, giver.code, giver.message);
  const { keyOf = personKey } = panel;
  const { reviewerId: from = '' } = giver;
  const isToThemselves = from !== '' && keyOf(to) === keyOf(from);
  const given = isToThemselves ? delegations.find((each) => keyOf(each.from) === keyOf(from)) : undefined;
  const isTakenBack = given !== undefined;
  const problem = seatProblem(found, command, { panel, giver, isTakenBack }, directories);
  if (problem !== undefined) return refusalOf(ledger, requestId, problem.code, problem.message);
  // The name is spelled as in the delegation that ends, so that the journal shows which delegation it is.
  const delegation = isTakenBack ? { from: given.from, to: given.from } : { from, to, ...sentBy(command) };
  const delegated: RequestRecord = { ...found, delegations: withDelegation(delegations, delegation, keyOf) };
  const why = newShortage(found, delegated, directories);
  if (why !== undefined) return refusalOf(ledger, requestId, 'invalid_message', why);
  const decides = isTakenBack ? `'${from}' decides again` : `'${to}' decides in the place of '${from}'`;
  const receipt = { requestId, accepted: true, message: `request ${requestId}: ${decides}` };
  return journaled(unchanged(withRequest(ledger, delegated), receipt), atMs, {
    kind: 'delegated',
    callId,
    requestId,
    toolName: request.toolName,
    reason,
    to: [delegation.to],
    ...senderIn(command.voter),
    reviewerId: delegation.from,
    ...(command.from !== undefined && { by: 'operator' as const, byId: command.voter.reviewerId }),
  });
}

/** Why the giver may not give the seat to another person, or take it back; undefined if they may. */
function seatProblem(
  record: RequestRecord,
  { from, to }: DelegateCommand,
  { panel, giver, isTakenBack }: { panel: Panel; giver: Voter; isTakenBack: boolean },
  directories: Directories,
): Problem | undefined {
  const { terms, delegations } = record;
  const { requestId } = record.request;
  // An operator may move the seat of a revoked person, for example of one who has left.
  const seated = from === undefined ? panel : { ...panel, revoked: undefined };
  const denied = isTakenBack ? undefined : entitlement(seated, giver, false);
  if (denied !== undefined) return denied;
  const namesReviewers = terms.requirements.some((each) => each.reviewers.length + each.oneOfEach.length > 0);
  if (giver.reviewerId === undefined || !namesReviewers) {
    return invalid(`request ${requestId} names no reviewers: there is no seat to delegate`);
  }
  if (delegations.length >= maxDelegations) return invalid(`request ${requestId} was delegated too often`);
  const { votes } = withoutRevoked(record, directories);
  return isTakenBack ? takeBackProblem(panel, votes, giver) : delegationProblem(seated, votes, giver, to);
}

function invalid(message: string): Problem {
  return { code: 'invalid_message', message };
}

function sentBy({ from, voter: { reviewerId, keyId } }: DelegateCommand): Partial<Delegation> {
  return {
    ...(from !== undefined && { by: 'operator' as const, movedBy: reviewerId }),
    ...(keyId !== undefined && { keyId }),
  };
}

/** The person whose seat is given: the sender, or the reviewer whose seat an operator moves. Else a refusal. */
function giverOf({ voter, from, operator, reason = '' }: DelegateCommand, panel: Panel): Voter | Problem {
  if (from === undefined) return voter;
  if (voter.reviewerId === undefined || voter.identity === 'anonymous') {
    return { code: 'not_entitled', message: 'who moves a request to another reviewer must say who they are' };
  }
  const revokedName = revokedOf(panel.revoked, voter, panel.keyOf);
  if (revokedName !== undefined) return { code: 'not_entitled', message: revokedSentence(revokedName) };
  if (!panel.allowSelf && isCaller(panel, voter.reviewerId)) {
    const message = `'${voter.reviewerId}' started the run, and does not choose who approves its calls`;
    return { code: 'self_approval', message };
  }
  if (panel.verified && operator !== true) {
    const message = `only a message that is signed with an operator's key moves a request whose rule says 'verified'`;
    return { code: 'unverified_reviewer', message };
  }
  if (reason.trim() === '') return invalid(`who moves a request must say why: give a 'reason'`);
  // Verified, so that the checks of the seat do not ask its holder for a signature.
  return { reviewerId: from, identity: 'verified' };
}

export function senderIn(voter: Voter | undefined): Partial<Pick<Voter, 'reviewerId' | 'identity'>> {
  return voter === undefined ? {} : { reviewerId: voter.reviewerId, identity: voter.identity };
}

/** Why no votes could approve the request after the change; undefined if some could, or none could even before. */
function newShortage(before: RequestRecord, after: RequestRecord, directories: Directories): string | undefined {
  const why = whyNotApproved(lastPanelOf(after, directories), after.votes);
  if (why === undefined || shortageIn(lastPanelOf(before, directories), before.votes) !== undefined) return undefined;
  return `with this delegation no votes could approve the request. ${why}`;
}

/** The request if it is open and before its deadline, else the refusal. */
function openInTime(
  ledger: Ledger,
  requestId: string,
  atMs: number,
  directories: Directories,
): RequestRecord | Reduction {
  const record = findOpen(ledger, requestId);
  if (record === undefined) return unchanged(ledger, notOpenReceipt(ledger, requestId, directories));
  if (record.deadlineMs !== null && atMs > record.deadlineMs) {
    return refusalOf(ledger, requestId, 'expired', `request ${requestId} expired at ${record.request.deadline}`);
  }
  return record;
}

/** The open request if this person may decide it at that time, else the refusal. */
function answerable(
  ledger: Ledger,
  requestId: string,
  atMs: number,
  voter: Voter,
  directories: Directories,
): RequestRecord | Reduction {
  const record = openInTime(ledger, requestId, atMs, directories);
  if ('entries' in record) return record;
  const problem = entitlement(panelOf(record, directories, atMs), voter, false);
  return problem === undefined ? record : refusalOf(ledger, requestId, problem.code, problem.message);
}

/** The latest deadline to which a request can be extended: the longest wait, from the first request about the call. */
export function latestDeadlineMs(
  { origin, request }: Pick<RequestRecord, 'origin' | 'request'>,
  layers: PolicyLayers,
): number | null {
  const longestMs = longestWaitMs(layers);
  return longestMs === null ? null : openedAtMs({ request: origin ?? request }) + longestMs;
}
