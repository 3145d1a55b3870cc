/** The commands of a reviewer besides the decision: to extend a request's deadline, and to delegate their seat. */
import { delegationProblem } from '../people/delegation-problem.ts';
import { entitlement, type Voter } from '../people/entitlement.ts';
import type { RequestRecord, Directories, Ledger, Reduction } from './ledger-state.ts';
import { iso, journaled, findOpen, refusalOf, unchanged, withRequest } from './ledger-state.ts';
import { panelOf } from './panel.ts';
import { notOpenReceipt } from './settled-receipt.ts';

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
}

const maxDelegations = 50;

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
    ...voter,
  });
}

export function delegate(ledger: Ledger, command: DelegateCommand, directories: Directories): Reduction {
  const { atMs, requestId, to, voter, reason } = command;
  const found = answerable(ledger, requestId, atMs, voter, directories);
  if ('entries' in found) return found;
  const { callId, request, terms, delegations, votes } = found;
  const from = voter.reviewerId;
  const refuse = (message: string): Reduction => refusalOf(ledger, requestId, 'invalid_message', message);
  if (from === undefined || !terms.requirements.some((each) => each.reviewers.length + each.oneOfEach.length > 0)) {
    return refuse(`request ${requestId} names no reviewers: there is no seat to delegate`);
  }
  if (delegations.length >= maxDelegations) return refuse(`request ${requestId} was delegated too often`);
  const problem = delegationProblem(panelOf(found, directories, atMs, ledger.engine), votes, voter, to);
  if (problem !== undefined) return refusalOf(ledger, requestId, problem.code, problem.message);
  const delegated: RequestRecord = { ...found, delegations: [...delegations, { from, to }] };
  const receipt = {
    requestId,
    accepted: true,
    message: `request ${requestId}: '${to}' decides in the place of '${from}'`,
  };
  return journaled(unchanged(withRequest(ledger, delegated), receipt), atMs, {
    kind: 'delegated',
    callId,
    requestId,
    toolName: request.toolName,
    reason,
    to: [to],
    ...voter,
  });
}

/** The open request if this person may decide it at that time, else the refusalOf. */
function answerable(
  ledger: Ledger,
  requestId: string,
  atMs: number,
  voter: Voter,
  directories: Directories,
): RequestRecord | Reduction {
  const record = findOpen(ledger, requestId);
  if (record === undefined) return unchanged(ledger, notOpenReceipt(ledger, requestId));
  if (record.deadlineMs !== null && atMs > record.deadlineMs) {
    return refusalOf(ledger, requestId, 'expired', `request ${requestId} expired at ${record.request.deadline}`);
  }
  const problem = entitlement(panelOf(record, directories, atMs, ledger.engine), voter, false);
  return problem === undefined ? record : refusalOf(ledger, requestId, problem.code, problem.message);
}
