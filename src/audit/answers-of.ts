import type { ProjectedRequest } from '../events/journal.ts';

/** How many of how many. */
export interface Share {
  count: number;
  of: number;
}

/** One answer that a person gave to a request. */
export interface Answer {
  /** Null: the decision names nobody. */
  reviewerId: string | null;
  /** The reviewer's name. The sender of the decision claims it. */
  reviewerName?: string;
  approved: boolean;
  /** From the opening of the request to the answer, in milliseconds. */
  afterMs: number;
  verified: boolean;
  /** How long the card was displayed, as the channel of the decision says. */
  viewedMs?: number;
  /** Given together with others, as the channel says. */
  inBatch: boolean;
}

/** The answers of people to a request, in order: the votes, and the one that settled it. */
export function answersOf(request: ProjectedRequest): Answer[] {
  const { votes = [], outcome, reviewerId, reviewerName, identity, settledAt = '', viewed } = request;
  const settling = isByPeople(outcome)
    ? [{ reviewerId, reviewerName, identity, viewed, approved: outcome === 'approved', at: settledAt }]
    : [];
  return [...votes, ...settling].flatMap((vote): Answer[] => {
    const afterMs = timeOf(vote.at) - timeOf(request.openedAt);
    // A settlement without an identity follows from a change of the policy, not from an answer.
    if (vote.identity === undefined || !(afterMs >= 0)) return [];
    const { viewed: seen } = vote;
    return [
      {
        reviewerId: vote.reviewerId ?? null,
        ...(vote.reviewerName !== undefined && { reviewerName: vote.reviewerName }),
        approved: vote.approved,
        afterMs,
        verified: vote.identity === 'verified',
        ...(seen?.durationMs !== undefined && { viewedMs: seen.durationMs }),
        inBatch: (seen?.batch ?? 1) > 1,
      },
    ];
  });
}

/** True for an outcome that people decided. */
export function isByPeople(outcome: string | undefined): boolean {
  return outcome === 'approved' || outcome === 'denied' || outcome === 'responded';
}

/** How many of them hold. */
export function shareOf<One>(all: readonly One[], holds: (one: One) => boolean): Share {
  return { count: all.filter(holds).length, of: all.length };
}

/** The middle one, or the mean of the two in the middle; null if there is none. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : Math.round((sorted[middle - 1]! + sorted[middle]!) / 2);
}

/** In milliseconds; NaN for a text that is no time. */
export function timeOf(at: string): number {
  // oxlint-disable-next-line no-restricted-globals -- parses a given date; reads no clock
  return Date.parse(at);
}
