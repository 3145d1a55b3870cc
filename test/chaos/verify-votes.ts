import type { JournalEntry } from '../../src/contract.ts';
import { orderedEntries } from '../../src/events/journal.ts';
import type { RunBook } from './run-book.ts';
import type { PlannedRun } from './schedule.ts';
import type { SentItem } from './sent-item.ts';
import { isGood } from './winners.ts';

const isDecided = ({ kind, outcome = 'expired' }: JournalEntry): boolean =>
  kind === 'settled' && ['approved', 'denied', 'responded'].includes(outcome);

/**
 * Follows every vote in the journal: a request waits as long as its votes settle nothing, and the deciding vote settles
 * it. A person votes once; the only change they may make is to withdraw an approval. If only signed decisions count,
 * every counted vote is signed.
 */
export function votesAreCounted({ plan, entries }: RunBook): string[] {
  const wrong: string[] = [];
  const votes = new Map<string, Map<string, boolean>>();
  for (const entry of orderedEntries(entries)) {
    const { kind, requestId = '', reviewerId = '', outcome, identity } = entry;
    if (kind !== 'vote' && !isDecided(entry)) continue;
    const who = `request ${requestId}: the word of ${reviewerId}`;
    if (plan.verified === true && identity !== 'verified') wrong.push(`${who} counts, and is ${identity}`);
    if (plan.votes === undefined) {
      if (kind === 'vote') wrong.push(`${who} settled nothing, where one is enough`);
      continue;
    }
    const cast = votes.get(requestId) ?? new Map<string, boolean>();
    votes.set(requestId, cast);
    const approved = kind === 'vote' ? entry.approved === true : outcome === 'approved';
    const earlier = cast.get(reviewerId);
    if (earlier !== undefined && (approved || !earlier)) wrong.push(`${who} counted twice`);
    cast.set(reviewerId, approved);
    const expected = kind === 'vote' ? undefined : outcome;
    const found = outcomeOf(plan, cast);
    if (found !== expected) wrong.push(`${who} made it ${expected ?? 'wait'}; its votes say ${found ?? 'wait'}`);
  }
  return wrong;
}

/** The outcome of the votes, independent of the product's own implementation. In runs with votes nobody delegates. */
function outcomeOf({ reviewers, votes }: PlannedRun, cast: ReadonlyMap<string, boolean>): string | undefined {
  const { quorum, oneOfEach, veto } = votes!;
  const suffices = (people: readonly string[]): boolean =>
    people.length >= quorum && oneOfEach.every((name) => people.includes(name));
  const against = reviewers.filter((name) => cast.get(name) === false);
  if (against.length > 0 && veto) return 'denied';
  if (suffices(reviewers.filter((name) => cast.get(name) === true))) return 'approved';
  return suffices(reviewers.filter((name) => !against.includes(name))) ? undefined : 'denied';
}

/** True if the journal has this very vote. */
export function isCounted({ entries }: RunBook, { requestId, item }: SentItem): boolean {
  return entries.some(
    (entry) =>
      (entry.kind === 'vote' || isDecided(entry)) &&
      entry.requestId === requestId &&
      entry.decisionId === item.decisionId &&
      entry.reviewerId === item.reviewerId,
  );
}

/** Another vote of the same person on the same request may have come first. */
export function hasOtherVote({ sent }: RunBook, { requestId, item }: SentItem): boolean {
  return sent.some(
    (other) =>
      other.requestId === requestId &&
      other.item.reviewerId === item.reviewerId &&
      other.item.decisionId !== item.decisionId &&
      isGood(other),
  );
}

/**
 * An accepted vote must be in the journal; so must one that was recorded, in time, on a request that nobody settled.
 */
export function votesAreKept(book: RunBook): string[] {
  const { plan, status, projection, sent } = book;
  if (plan.votes === undefined || status === 'TERMINATED') return [];
  const byId = new Map(projection.requests.map((request) => [request.requestId, request]));
  return sent
    .filter((each) => isGood(each) && plan.reviewers.includes(each.item.reviewerId) && !isCounted(book, each))
    .flatMap((each) => {
      const { answer, item, requestId, answeredAtMs } = each;
      const request = byId.get(requestId);
      const isAccepted = answer.kind === 'receipt' && answer.receipt.accepted;
      const isFirst =
        answer.kind === 'recorded' &&
        request?.outcome === 'expired' &&
        answeredAtMs <= Date.parse(request.deadline ?? '') &&
        !hasOtherVote(book, each);
      return isAccepted || isFirst ? [`${item.decisionId} was acknowledged, and the journal has no such vote`] : [];
    });
}
