/**
 * Applies a decision: it records a vote. The last vote that is needed settles the request, makes a grant if "always"
 * was requested, and settles the other requests that the grant answers.
 */
import { withShare } from './argument-sums.ts';
import type { OutcomeName, Receipt, ReviewerVote, Settlement } from './approval.ts';
import { sameDemands } from '../policy/ask-terms.ts';
import { decisionDigest } from '../messages/control.ts';
import type { ParsedDecision } from '../messages/decision.ts';
import { entitlement, tally, type Voter } from '../people/entitlement.ts';
import type { RequestRecord, Directories, Ledger, Reduction, SettledRequest } from './ledger-state.ts';
import {
  chained,
  counted,
  irreversibleCount,
  iso,
  journaled,
  maxVotes,
  findOpen,
  refusalOf,
  unchanged,
  withRequest,
} from './ledger-state.ts';
import { openedAtMs } from './escalation.ts';
import { makeGrant, useGrant } from './make-grant.ts';
import { openRequest } from './open-request.ts';
import { panelOf, personKeyOfRun, withoutRevoked } from './panel.ts';
import { settle, votedFields, notOpenReceipt, votedReceipt } from './settle.ts';
import type { Redaction } from '../redact/redaction.ts';
import type { Ruling } from '../policy/ruling.ts';
import type { Problem } from '../base/problem.ts';
import type { JsonObject } from '../base/tool-call.ts';
import { nfc } from '../base/text.ts';

/** The result of checking edited arguments, before their decision is applied (I9). */
export interface CheckedEdit {
  arguments: JsonObject;
  digest: string;
  /** True if the edited call can be undone. */
  reversible: boolean;
  /** What reviewers do not see of the arguments. */
  redaction?: Redaction;
  /** The grant that lets the edited call run, if any. The decision uses it once. */
  grantId?: string;
  /** If the policy asks about the edited call: a request of its own, and the ruling that asks. */
  asked?: { successor: RequestRecord; ruling: Ruling };
}

export interface DecideCommand {
  kind: 'decide';
  atMs: number;
  decision: ParsedDecision;
  /** The person who decides. Absent: anonymous. */
  voter?: Voter;
  edit?: CheckedEdit;
}

/** Applies a decision: refuses it, keeps its vote, or settles the request. A repeated decision changes nothing. */
export function decide(ledger: Ledger, command: DecideCommand, directories: Directories): Reduction {
  const { atMs, decision, voter = { identity: 'anonymous' }, edit } = command;
  const { requestId, approved, response, reason, decisionId, viewed, always } = decision;
  const open = findOpen(ledger, requestId);
  if (open === undefined) return answerSettled(ledger, decision, directories);
  const record = withoutRevoked(open, directories);
  const contentDigest = decisionDigest(decision);
  const ownVotes = votesOf(record, voter, directories);
  const retried = decisionId === undefined ? undefined : ownVotes.find((vote) => vote.decisionId === decisionId);
  if (retried?.contentDigest === contentDigest) return unchanged(ledger, receiptOf(record, directories, atMs));
  const panel = panelOf(record, directories, atMs);
  // A response lets the run go on as if the tool had run, so it requires the right to approve.
  const approves = approved || response !== undefined;
  const problem = unfitProblem(record, decision, atMs) ?? entitlement(panel, voter, approves);
  if (problem !== undefined) return refusalOf(ledger, requestId, problem.code, problem.message);
  const [earlier] = ownVotes;
  // A person may turn an approval into a denial, but not under the same decision id, such as that of an answer link.
  const isSameId = earlier !== undefined && earlier === retried;
  if (earlier !== undefined && (approved || !earlier.approved || isSameId)) {
    const message = `${nfc(voter.reviewerId) ?? 'an unnamed reviewer'} has answered request ${requestId} already`;
    return refusalOf(ledger, requestId, 'already_settled', message);
  }
  // A name without an id identifies no person.
  const reviewerName = voter.reviewerId === undefined ? undefined : decision.reviewerName;
  const vote = { ...voter, reviewerName, approved, at: iso(atMs), contentDigest, reason, decisionId, viewed, always };
  if (edit !== undefined) return decideEdited(ledger, record, vote, edit, command, directories);
  const voted = { ...record, votes: [...record.votes.filter((each) => each !== earlier), vote] };
  if (response === undefined) return countVote(ledger, record, voted, vote, atMs, directories);
  // A response settles a request by itself, so it counts only where one denial would, too.
  if (panel.veto) return close(ledger, voted, { outcome: 'responded', runs: false, response }, vote, atMs);
  const message = `request ${requestId} needs several votes: one reviewer cannot answer in the tool's place`;
  return refusalOf(ledger, requestId, 'not_entitled', message);
}

/** The votes on a request that the voter gave under any id. An anonymous voter gets those of all anonymous voters. */
function votesOf({ votes }: RequestRecord, voter: Voter, directories: Directories): ReviewerVote[] {
  const keyOf = personKeyOfRun(directories);
  const personOf = ({ reviewerId }: Voter) => (reviewerId === undefined ? undefined : keyOf(reviewerId));
  return votes.filter((vote) => personOf(vote) === personOf(voter));
}

/** Why a decision does not fit an open request, without regard to its sender; undefined if it fits. */
function unfitProblem(record: RequestRecord, decision: ParsedDecision, atMs: number): Problem | undefined {
  const { requestId, deadline, digest } = record.request;
  if (record.deadlineMs !== null && atMs > record.deadlineMs) {
    return { code: 'expired', message: `request ${requestId} expired at ${deadline}` };
  }
  if (decision.digest !== undefined && decision.digest !== digest) {
    return { code: 'digest_mismatch', message: `the digest is not that of request ${requestId}: look at it again` };
  }
  if (record.ruled.mayHaveRun !== true || decision.modifiedArguments === undefined) return undefined;
  const message = `request ${requestId}: the call may have run with its arguments, so they cannot be edited`;
  return { code: 'invalid_decision', message };
}

/** Closes the request if the new vote in `voted` suffices; otherwise keeps that vote, or refuses it as one too many. */
function countVote(
  ledger: Ledger,
  record: RequestRecord,
  voted: RequestRecord,
  vote: ReviewerVote,
  atMs: number,
  directories: Directories,
): Reduction {
  const panel = panelOf(record, directories, atMs);
  const { outcome, have } = tally(panel, voted.votes);
  if (outcome !== undefined) {
    return closeByVotes(ledger, voted, { outcome, runs: outcome === 'approved' }, vote, atMs, directories);
  }
  const isFull = record.votes.length >= maxVotes && voted.votes.length > record.votes.length;
  // A full request accepts only an approval that raises the tally.
  if (!isFull || (vote.approved && have > tally(panel, record.votes).have)) {
    return keepVote(ledger, voted, vote, atMs, directories);
  }
  const { requestId } = record.request;
  const message = `request ${requestId} has ${maxVotes} answers that settle nothing`;
  return refusalOf(ledger, requestId, 'rate_limited', message);
}

/**
 * Applies an approval with edited arguments. The edited call runs now if the policy does not ask about it, or demands
 * the same of reviewers and this one vote is enough. Else a new request asks about it. Earlier votes are dropped,
 * because they were about other arguments.
 */
function decideEdited(
  ledger: Ledger,
  record: RequestRecord,
  vote: ReviewerVote,
  edit: CheckedEdit,
  command: DecideCommand,
  directories: Directories,
): Reduction {
  const { asked } = edit;
  const isEnough = tally(panelOf(record, directories, command.atMs), [vote]).outcome === 'approved';
  // Reviewers approve a bound call by its preview, and no reviewer has seen a preview of the edited call.
  const isBound = record.bound !== undefined;
  if (asked !== undefined && (!isEnough || isBound || !sameDemands(asked.successor.terms, record.terms))) {
    return replaceByEdited(ledger, record, vote, asked, command, directories);
  }
  const edited = { arguments: edit.arguments, digest: edit.digest };
  const grantedBy = ledger.grants.find(({ grantId }) => grantId === edit.grantId)?.by;
  const voted = { ...record, votes: [vote], editedRedaction: edit.redaction, grantedBy };
  const irreversible = irreversibleCount(edit) - irreversibleCount(record.request.assessment);
  const counting = withShare(useGrant(ledger, edit.grantId), record.callId, record.request.toolName, edit.arguments);
  const used = { ...counting, counts: counted(ledger, { irreversible }) };
  return closeByVotes(used, voted, { outcome: 'approved', runs: true, edited }, vote, command.atMs, directories);
}

/** Supersedes the request by a new one about the edited call, which gets the author's approval unless it is bound. */
function replaceByEdited(
  ledger: Ledger,
  record: RequestRecord,
  vote: ReviewerVote,
  asked: NonNullable<CheckedEdit['asked']>,
  command: DecideCommand,
  directories: Directories,
): Reduction {
  const { atMs, decision } = command;
  const { requestId, requestedAt, digest } = record.request;
  const successor = { ...asked.successor, origin: record.origin ?? { requestId, digest, requestedAt } };
  // The check of the edit took time, so the new request's times count from its own opening.
  const openedMs = openedAtMs(successor);
  const successorId = successor.request.requestId;
  const superseded = settle(
    ledger,
    { ...record, votes: [vote] },
    { outcome: 'superseded', runs: false, by: 'edit', byId: successorId, settledAt: iso(atMs), ...votedFields(vote) },
    atMs,
  );
  const opened = chained(superseded, (next) => openRequest(next, successor, asked.ruling, openedMs, directories));
  const isBound = record.bound !== undefined;
  // `viewed` is dropped: the reviewer saw the card of this request, not that of its successor.
  const { modifiedArguments: _, digest: __, viewed: ___, ...carried } = { ...decision, requestId: successorId };
  const approval = { ...command, atMs: openedMs, decision: carried, edit: undefined };
  const approved = isBound
    ? { ...opened, receipt: undefined }
    : chained(opened, (next) => decide(next, approval, directories));
  const approvalReceipt = approved.receipt?.accepted === true ? approved.receipt : undefined;
  const others = isBound ? 'to be approved by its own preview' : 'which others have to approve';
  const whatIsLeft = approvalReceipt === undefined ? `, ${others}` : '';
  const receipt: Receipt = {
    ...approvalReceipt,
    requestId,
    accepted: true,
    outcome: 'superseded',
    successor: successorId,
    message: `request ${requestId}: the edited call is request ${successorId}${whatIsLeft}`,
  };
  return { ...approved, receipt };
}

/** Keeps the vote on a request that needs further votes. The receipt says how many it has and needs. */
function keepVote(
  ledger: Ledger,
  voted: RequestRecord,
  vote: ReviewerVote,
  atMs: number,
  directories: Directories,
): Reduction {
  const { requestId, toolName, digest } = voted.request;
  const receipt = receiptOf(voted, directories, atMs);
  return journaled(unchanged(withRequest(ledger, voted), receipt), atMs, {
    kind: 'vote',
    callId: voted.callId,
    requestId,
    toolName,
    approved: vote.approved,
    ...votedFields(vote),
    digest,
  });
}

/** Closes a request whose votes suffice, and makes the grant that the votes ask for. */
function closeByVotes(
  ledger: Ledger,
  voted: RequestRecord,
  settlement: Omit<Settlement, 'settledAt'>,
  vote: ReviewerVote,
  atMs: number,
  directories: Directories,
): Reduction {
  const closed = close(ledger, voted, settlement, vote, atMs);
  const deciding = voted.votes.filter(({ approved }) => approved === vote.approved);
  // The grant is about the call as it runs, so about the edited one.
  const asRun = { ...voted, request: { ...voted.request, ...settlement.edited } };
  const { reduction, grantId, note, settled } = makeGrant(closed, asRun, deciding, atMs, directories);
  const receipt = closed.receipt!;
  const others = settled.map(({ requestId }) => requestId).join(', ');
  const message = `${receipt.message}${note}${others === '' ? '' : `; also settled: ${others}`}`;
  return { ...reduction, receipt: { ...receipt, grantId, ...(settled.length > 0 && { settled }), message } };
}

/** Settles the request by this vote. The receipt names the outcome. */
function close(
  ledger: Ledger,
  voted: RequestRecord,
  settlement: Omit<Settlement, 'settledAt'>,
  vote: ReviewerVote,
  atMs: number,
): Reduction {
  const { requestId } = voted.request;
  const { outcome } = settlement;
  const closed = settle(ledger, voted, { ...settlement, ...votedFields(vote), settledAt: iso(atMs) }, atMs);
  return { ...closed, receipt: { requestId, accepted: true, outcome, message: receiptMessage(requestId, outcome) } };
}

/** Answers a decision about a request that is not open: a retry is accepted again, others are refused (I3, I4). */
function answerSettled(ledger: Ledger, decision: ParsedDecision, directories: Directories): Reduction {
  const { requestId } = decision;
  const settled = ledger.settled.find((each) => each.request.requestId === requestId);
  if (settled === undefined || !isRetry(settled, decision)) {
    return unchanged(ledger, notOpenReceipt(ledger, requestId, directories));
  }
  const { outcome } = settled.settlement;
  return unchanged(ledger, { requestId, accepted: true, outcome, message: receiptMessage(requestId, outcome) });
}

function isRetry({ votes }: SettledRequest, decision: ParsedDecision): boolean {
  if (decision.decisionId === undefined) return false;
  const contentDigest = decisionDigest(decision);
  return votes.some((vote) => vote.decisionId === decision.decisionId && vote.contentDigest === contentDigest);
}

function receiptOf(record: RequestRecord, directories: Directories, atMs: number): Receipt {
  const { have, need } = tally(panelOf(record, directories, atMs), record.votes);
  return votedReceipt(record.request.requestId, { have, need });
}

function receiptMessage(requestId: string, outcome: OutcomeName): string {
  return `request ${requestId}: ${outcome}`;
}
