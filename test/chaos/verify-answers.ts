import type { ProjectedRequest } from '../../src/core/journal.ts';
import type { OutcomeName } from '../../src/contract.ts';
import type { RunBook } from './run-book.ts';
import type { PlannedItem } from './schedule.ts';
import type { SentItem } from './sent-item.ts';

const isGood = ({ item }: SentItem): boolean => item.fault === undefined;

/** What was sent for a request and could have settled it as it was settled. */
function winners({ sent }: RunBook, { requestId, outcome, reviewerId, decisionId }: ProjectedRequest): SentItem[] {
  return sent.filter(
    (each) =>
      isGood(each) &&
      each.requestId === requestId &&
      outcomeOf(each.item) === outcome &&
      each.item.reviewerId === reviewerId &&
      // The client gives an id to a decision that has none.
      (each.item.decisionId === undefined || each.item.decisionId === decisionId),
  );
}

const isDecided = ({ outcome = 'expired' }: ProjectedRequest): boolean =>
  ['approved', 'denied', 'responded'].includes(outcome);

function outcomeOf({ approved, response }: PlannedItem): OutcomeName {
  if (approved) return 'approved';
  return response === undefined ? 'denied' : 'responded';
}

const deadlineOf = ({ deadline }: ProjectedRequest): number => (deadline === null ? Infinity : Date.parse(deadline));

export function decidedBySomebody(book: RunBook): string[] {
  return book.projection.requests.flatMap((request) => {
    const { requestId, outcome, settledAt, deadline } = request;
    const who = `request ${requestId}, ${outcome},`;
    const settledAtMs = Date.parse(settledAt ?? '');
    if (outcome === 'expired') {
      return settledAtMs > deadlineOf(request) ? [] : [`${who} ended at ${settledAt}, its deadline is ${deadline}`];
    }
    // By a policy: that is looked at elsewhere.
    if (outcome === 'superseded') return [];
    if (outcome === 'cancelled') return book.plan.end.kind === 'itself' ? [`${who} was cancelled by nobody`] : [];
    if (!isDecided(request)) return [`${who} has an outcome that nothing here can give`];
    const possible = winners(book, request);
    if (possible.length === 0) return [`${who} was decided by nobody (${request.reviewerId}, ${request.decisionId})`];
    if (settledAtMs > deadlineOf(request))
      return [`${who} was settled at ${settledAt}, after its deadline ${deadline}`];
    const inTime = possible.some(({ sentAtMs }) => sentAtMs <= deadlineOf(request));
    return inTime ? [] : [`${who} was decided by a decision sent after its deadline ${deadline}`];
  });
}

/**
 * A decision that was acknowledged, in time, before another was even sent, comes first. Edited arguments are looked into
 * first, and somebody else may answer meanwhile.
 */
export function firstOneWins(book: RunBook): string[] {
  return book.projection.requests.filter(isDecided).flatMap((request) => {
    const possible = winners(book, request);
    const wonFromMs = Math.min(...possible.map(({ sentAtMs }) => sentAtMs));
    return book.sent
      .filter(
        (each) =>
          isGood(each) &&
          each.item.edit === undefined &&
          each.requestId === request.requestId &&
          !possible.includes(each),
      )
      .filter(
        (each) => isAcknowledged(each) && each.answeredAtMs < wonFromMs && each.answeredAtMs <= deadlineOf(request),
      )
      .map(
        ({ item }) => `request ${request.requestId}: ${item.decisionId} came before ${request.decisionId}, which won`,
      );
  });
}

function isAcknowledged({ answer }: SentItem): boolean {
  return answer.kind === 'recorded' || (answer.kind === 'receipt' && answer.receipt.accepted);
}

export function nothingIsLost(book: RunBook): string[] {
  if (book.status !== 'COMPLETED') return [];
  const byId = new Map(book.projection.requests.map((request) => [request.requestId, request]));
  return book.sent
    .filter((each) => isGood(each) && isAcknowledged(each))
    .flatMap((each) => {
      const request = byId.get(each.requestId);
      const name = each.item.decisionId ?? `the decision of ${each.item.reviewerId}`;
      if (request === undefined) return [`${name} was acknowledged for a request that history does not know`];
      const inTime = each.answeredAtMs <= deadlineOf(request);
      // A policy that came first, or that forbids what a reviewer would have run instead.
      const changed = changesBefore(book, each.item.edit === undefined ? each.answeredAtMs : Infinity);
      if (changed && (request.outcome === 'superseded' || each.item.edit !== undefined)) return [];
      return inTime && !isDecided(request)
        ? [`${name} was acknowledged in time, and the request is ${request.outcome}`]
        : [];
    });
}

function changesBefore({ changes }: RunBook, atMs: number): boolean {
  return changes.some(({ sentAtMs }) => sentAtMs <= atMs);
}

/** Of a run that was terminated, a look at it may tell what its last, unfinished task would have done. */
export function answersAreTrue(book: RunBook): string[] {
  if (book.status === 'TERMINATED') return [];
  const byId = new Map(book.projection.requests.map((request) => [request.requestId, request]));
  return book.sent.flatMap((each) => {
    const { item, door, requestId, answer } = each;
    const name = `${item.decisionId ?? item.reviewerId} by ${door}`;
    const code = answer.kind === 'refused' ? answer.code : answer.kind === 'receipt' ? answer.receipt.code : undefined;
    const request = byId.get(requestId);
    if (answer.kind === 'receipt' && answer.receipt.accepted) {
      const won = request !== undefined && winners(book, request).includes(each);
      const same = answer.receipt.outcome === request?.outcome;
      return won && same ? [] : [`${name} was told '${answer.receipt.outcome}'; the request is ${request?.outcome}`];
    }
    if (code === undefined || code === 'run_closed') return [];
    const expected = codesFor(item, request);
    return expected.includes(code) ? [] : [`${name} was refused as ${code}; the request is ${request?.outcome}`];
  });
}

function codesFor({ fault, edit }: PlannedItem, request: ProjectedRequest | undefined): string[] {
  if (fault === 'unknown') return ['unknown_request'];
  if (fault === 'misshapen' || fault === 'undecodable') return ['invalid_decision', 'undecodable'];
  const isSettled = request?.outcome !== undefined && !['expired', 'cancelled'].includes(request.outcome);
  return [
    ...(isSettled ? ['already_settled'] : []),
    // One that came late is refused as late, however its request is settled in the end.
    'expired',
    ...(fault === 'digest' ? ['digest_mismatch'] : []),
    ...(edit === undefined ? [] : ['rate_limited', 'denied_by_policy']),
  ];
}

export function badOnesAreCounted({ status, sent, ledger, unread }: RunBook): string[] {
  if (status === 'TERMINATED' || unread !== undefined) return [];
  const bad = sent.filter((each) => !isGood(each) && each.answer.kind === 'recorded').length;
  return ledger.refused >= bad ? [] : [`${bad} bad decisions were recorded, the run counted ${ledger.refused}`];
}
