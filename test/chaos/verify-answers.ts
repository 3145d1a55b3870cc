import type { ProjectedRequest } from '../../src/events/journal.ts';
import type { RunBook } from './run-book.ts';
import type { Fault } from './schedule.ts';
import { surelySeated } from './seats.ts';
import type { SentItem } from './sent-item.ts';
import { mayBeCancelled } from './verify-nested.ts';
import { hasOtherVote, isCounted } from './verify-votes.ts';
import { isGood, winners } from './winners.ts';

/** True if the decision has no fault and its reviewer certainly had a seat. */
function isSound(book: RunBook, sent: SentItem): boolean {
  const { item, requestId, sentAtMs } = sent;
  return isGood(sent) && surelySeated(book, requestId, { person: item.reviewerId, sentAtMs });
}

const isDecided = ({ outcome = 'expired' }: ProjectedRequest): boolean =>
  ['approved', 'denied', 'responded'].includes(outcome);

const deadlineOf = ({ deadline }: ProjectedRequest): number => (deadline === null ? Infinity : Date.parse(deadline));

export function decidedBySomebody(book: RunBook): string[] {
  return book.projection.requests.flatMap((request) => {
    const { requestId, outcome, settledAt, deadline } = request;
    const who = `request ${requestId}, ${outcome},`;
    const settledAtMs = Date.parse(settledAt ?? '');
    if (outcome === 'expired') {
      return settledAtMs > deadlineOf(request) ? [] : [`${who} ended at ${settledAt}, its deadline is ${deadline}`];
    }
    // Settled by a policy or a grant: other rules check these.
    if (outcome === 'superseded') return [];
    if (outcome === 'cancelled')
      return book.plan.end.kind !== 'itself' || mayBeCancelled(book) ? [] : [`${who} was cancelled by nobody`];
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
 * A decision that was acknowledged, in time, before another one was sent comes first. Decisions with edited arguments
 * are left out: they are checked first, and another decision may arrive meanwhile.
 */
export function firstOneWins(book: RunBook): string[] {
  if (book.plan.votes !== undefined) return [];
  return book.projection.requests.filter(isDecided).flatMap((request) => {
    const possible = winners(book, request);
    const wonFromMs = Math.min(...possible.map(({ sentAtMs }) => sentAtMs));
    return book.sent
      .filter(
        (each) =>
          isSound(book, each) &&
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
  if (book.status !== 'COMPLETED' || book.plan.votes !== undefined) return [];
  const byId = new Map(book.projection.requests.map((request) => [request.requestId, request]));
  return book.sent
    .filter((each) => isSound(book, each) && isAcknowledged(each))
    .flatMap((each) => {
      const request = byId.get(each.requestId);
      const name = each.item.decisionId ?? `the decision of ${each.item.reviewerId}`;
      if (request === undefined) return [`${name} was acknowledged for a request that history does not know`];
      const inTime = each.answeredAtMs <= deadlineOf(request);
      // An earlier policy change, or one that denies the edited arguments.
      const changed = changesBefore(book, each.item.edit === undefined ? each.answeredAtMs : Infinity);
      const isEdit = each.item.edit !== undefined;
      if (changed && (request.by === 'policy' || isEdit)) return [];
      // A grant or standing denial sent earlier; a standing denial may also deny the edited arguments.
      if (wishedBefore(book, isEdit ? Infinity : each.answeredAtMs) && (request.by === 'grant' || isEdit)) return [];
      return inTime && !isDecided(request)
        ? [`${name} was acknowledged in time, and the request is ${request.outcome}`]
        : [];
    });
}

function changesBefore({ changes, above }: RunBook, atMs: number): boolean {
  return [...changes, ...(above?.changes ?? [])].some(({ sentAtMs }) => sentAtMs <= atMs);
}

function wishedBefore({ sent }: RunBook, atMs: number): boolean {
  return sent.some(({ item, sentAtMs }) => item.always !== undefined && sentAtMs <= atMs);
}

/** Skips terminated runs: their query answers may include what the last, unfinished task would have done. */
export function answersAreTrue(book: RunBook): string[] {
  if (book.status === 'TERMINATED') return [];
  const byId = new Map(book.projection.requests.map((request) => [request.requestId, request]));
  return book.sent.flatMap((each) => {
    const { item, via, requestId, answer } = each;
    const name = `${item.decisionId ?? item.reviewerId} by ${via}`;
    const code = answer.kind === 'refused' ? answer.code : answer.kind === 'receipt' ? answer.receipt.code : undefined;
    const request = byId.get(requestId);
    if (answer.kind === 'receipt' && answer.receipt.accepted) {
      const isVote = book.plan.votes !== undefined;
      const won = request !== undefined && (isVote ? isCounted(book, each) : winners(book, request).includes(each));
      const same = answer.receipt.outcome === request?.outcome || (isVote && answer.receipt.outcome === undefined);
      return won && same ? [] : [`${name} was told '${answer.receipt.outcome}'; the request is ${request?.outcome}`];
    }
    if (code === undefined || code === 'run_closed') return [];
    const expected = codesFor(each, request, isSound(book, each));
    if (book.plan.votes !== undefined && hasOtherVote(book, each)) expected.push('already_settled');
    return expected.includes(code) ? [] : [`${name} was refused as ${code}; the request is ${request?.outcome}`];
  });
}

const signatureFaults: readonly Fault[] = ['forged', 'elsewhere', 'altered', 'unsigned'];

function codesFor(
  { item: { fault, edit } }: SentItem,
  request: ProjectedRequest | undefined,
  isSeated: boolean,
): string[] {
  if (fault === 'unknown') return ['unknown_request'];
  if (fault === 'misshapen' || fault === 'undecodable') return ['invalid_decision', 'undecodable'];
  const isSettled = request?.outcome !== undefined && !['expired', 'cancelled'].includes(request.outcome);
  return [
    ...(isSettled ? ['already_settled'] : []),
    // A late message is refused as late, whatever the final outcome of the request.
    'expired',
    ...(fault === 'digest' ? ['digest_mismatch'] : []),
    ...(fault !== undefined && signatureFaults.includes(fault) ? ['unverified_reviewer'] : []),
    ...(isSeated ? [] : ['not_entitled']),
    ...(edit === undefined ? [] : ['rate_limited', 'denied_by_policy']),
  ];
}
