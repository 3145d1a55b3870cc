import { defineQuery, setHandler } from '@temporalio/workflow';
import type { ApprovalDetails, ReviewerVote } from '../contract.ts';
import { queryNames } from '../contract.ts';
import type { ApprovalRequest } from '../core/approval.ts';
import { tally } from '../core/entitlement.ts';
import type { Grant } from '../core/grants.ts';
import type { BookedRequest, SettledRequest } from '../core/ledger.ts';
import { findRequest } from '../core/ledger.ts';
import type { BookedVote } from '../core/ledger-state.ts';
import { listed } from '../core/listed-request.ts';
import { panelOf } from '../core/panel.ts';
import type { Book } from './book.ts';

const approvalsQuery = defineQuery<ApprovalRequest[] | ApprovalDetails | null, [unknown?]>(queryNames.approvals);
const grantsQuery = defineQuery<Grant[]>(queryNames.grants);

/** Answers what reviewers ask of a run: its open requests, one request whole, its grants. */
export function answerViews(book: Book, showsArguments: () => boolean): void {
  setHandler(grantsQuery, () => book.ledger.grants);
  setHandler(approvalsQuery, (filter) => {
    const { requestId } = (typeof filter === 'object' && filter !== null ? filter : {}) as { requestId?: unknown };
    if (requestId === undefined) return book.ledger.open.map((booked) => listed(view(booked)));
    const found = typeof requestId === 'string' ? findRequest(book.ledger, requestId) : undefined;
    return found === undefined ? null : view(found);
  });

  function view(found: BookedRequest | SettledRequest): ApprovalDetails {
    const { request, votes, delegations } = found;
    const shown: ApprovalDetails = {
      ...request,
      ...(!showsArguments() && { arguments: {}, shown: 'part' }),
      ...(votes.length > 0 && { votes: votes.map(withoutDigest) }),
      ...(delegations.length > 0 && { delegations }),
    };
    if ('settlement' in found) return { ...shown, settled: showsArguments() ? found.settlement : withoutEdit(found) };
    const { have, need } = tally(panelOf(found, book.directories, Date.now()), votes);
    return { ...shown, approvals: { have, need } };
  }
}

function withoutDigest(vote: BookedVote): ReviewerVote {
  const { said: _, ...shown } = vote;
  return shown;
}

/** That it was edited, and into what by its digest alone. */
function withoutEdit({ settlement }: SettledRequest): SettledRequest['settlement'] {
  const { edited } = settlement;
  return edited === undefined ? settlement : { ...settlement, edited: { ...edited, arguments: {} } };
}
