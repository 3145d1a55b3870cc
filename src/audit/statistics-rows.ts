import { shortened } from '../core/base/text.ts';
import { membersOf, personKeyIn, personKey, type Directory, type shownPerson } from '../core/people/directory.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import type { Viewed } from '../core/messages/viewed.ts';
import type { ProjectedRequest } from '../events/journal.ts';

/** The figures of one rule. */
export interface RuleStatistics {
  /** The id of the rule. Null if the tool's risk, the run's mode or a grant decided, and no rule. */
  rule: string | null;
  layer: string;
  /** The digest of the operator's policy, if the rule is in it. */
  policy?: string;
  /** The agent that made the calls, if the rule is in the policy of an agent or a run. */
  agent?: string;
  /** Calls that ran without a question. */
  allowed: number;
  /** Calls that the policy denied. */
  deniedByPolicy: number;
  /** Calls that were answered by a limit, an earlier denial, or the result of an equal call. */
  answeredBefore: number;
  /** Requests that were opened. The next seven numbers add up to this. */
  asked: number;
  approved: number;
  /** Requests that people denied. */
  denied: number;
  responded: number;
  expired: number;
  cancelled: number;
  superseded: number;
  open: number;
  /** The share of approvals among the requests settled by people. */
  approvalRate: Share;
  /** The median time until people settled a request, in milliseconds. */
  medianMs: number | null;
  /** The share of requests that people settled in less than three seconds. Denials in bulk do not count. */
  underThreeSeconds: Share;
  /** The share of expired requests among the settled ones. */
  expiredShare: Share;
}

/** The figures of one reviewer. */
export interface ReviewerStatistics {
  /** The reviewer's id. Null for the row of all decisions without a reviewer. */
  reviewerId: string | null;
  /** The reviewer's display name, from the last decision that has one. */
  reviewerName?: string;
  answers: number;
  approvalRate: Share;
  /** The median time from request to answer, in milliseconds. */
  medianMs: number | null;
  /** The share of answers less than three seconds after the request opened. Denials in bulk do not count. */
  underThreeSeconds: Share;
  /** The share of answers for which the card was displayed for less than three seconds, as channels report it. */
  glanced: Share;
  /** The share of answers that were given together with others. */
  inBatches: Share;
  /** The share of answers whose sender the run has verified. */
  verified: Share;
}

/** A decision in less than this time is counted as hasty. */
const hastyMs = 3_000;
export const longestRowName = 200;
export const unnamed = 'unnamed';

/** The rule that decided on a call, as entries name it. */
export type Deciding = Pick<JournalEntry, 'rule' | 'layer' | 'agent'>;
type Place = Pick<RuleStatistics, 'rule' | 'layer' | 'policy' | 'agent'>;
type Counts = Omit<RuleStatistics, keyof Place | 'approvalRate' | 'medianMs' | 'underThreeSeconds' | 'expiredShare'>;

export interface Tally {
  place: Place;
  counts: Counts;
  /** The times until people settled the requests, in milliseconds. */
  times: number[];
  /** The same times without those of denials in bulk. */
  readingTimes: number[];
}

export function noCounts(): Counts {
  const settled = { approved: 0, denied: 0, responded: 0, expired: 0, cancelled: 0, superseded: 0, open: 0 };
  return { allowed: 0, deniedByPolicy: 0, answeredBefore: 0, asked: 0, ...settled };
}

/** Identifies a rule by its layer and its policy or agent, because rules of different policies may share an id. */
export function placeOf(
  run: { policy?: string; agent?: string },
  { rule = null, layer = 'default', agent = run.agent }: Deciding,
): Place {
  const name = rule === null ? null : shortened(rule, longestRowName);
  // A grant has no row of its own, because each run has other grants.
  if (layer === 'grant' || name === null) return { rule: null, layer };
  if (layer === 'ceiling') return { rule: name, layer, ...(run.policy !== undefined && { policy: run.policy }) };
  return { rule: name, layer, ...(agent !== undefined && { agent: shortened(agent, longestRowName) }) };
}

/** Returns the figures of a rule. Approvals are a share of what people settled, expired requests of all that is. */
export function ruleRow({ place, counts, times, readingTimes }: Tally): RuleStatistics {
  return {
    ...place,
    ...counts,
    approvalRate: { count: counts.approved, of: counts.approved + counts.denied + counts.responded },
    medianMs: median(times),
    underThreeSeconds: shareOf(readingTimes, (each) => each < hastyMs),
    expiredShare: { count: counts.expired, of: counts.asked - counts.open },
  };
}

/** Groups answers by person, whatever the spelling of the id. */
export class AnswersOfPeople {
  readonly #people = new Map<string | null, { id: string | null; answers: Answer[] }>();

  /** Adds an answer. `directory` is the directory of its run. */
  add(directory: Directory | undefined, answer: Answer): void {
    const id = answer.reviewerId === null ? null : idIn(directory, answer.reviewerId);
    const key = id === null ? null : personKey(id);
    const known = this.#people.get(key);
    if (known === undefined) this.#people.set(key, { id, answers: [answer] });
    else known.answers.push(answer);
  }

  /** Returns the figures of each person, the one with the most answers first. */
  rows(): ReviewerStatistics[] {
    return [...this.#people.values()]
      .map(({ id, answers }) => reviewerRow(id, answers))
      .sort((one, other) => other.answers - one.answers);
  }
}

/** Returns the id in the spelling of the directory; unchanged if the directory lacks it. */
function idIn(directory: Directory | undefined, reviewerId: string): string {
  const [id = reviewerId] = membersOf(directory, [reviewerId], personKeyIn(directory));
  return shortened(id, longestRowName);
}

/** Returns the statistics of one reviewer. Bulk denials have no part in the shares about haste. */
function reviewerRow(reviewerId: string | null, answers: readonly Answer[]): ReviewerStatistics {
  const deliberate = answers.filter((answer) => !isBulkDenial(answer));
  const viewTimes = deliberate.flatMap(({ viewedMs }) => viewedMs ?? []);
  const reviewerName = answers.findLast((answer) => answer.reviewerName !== undefined)?.reviewerName;
  return {
    reviewerId,
    ...(reviewerName !== undefined && { reviewerName: shortened(reviewerName, longestRowName) }),
    answers: answers.length,
    approvalRate: shareOf(answers, ({ approved }) => approved),
    medianMs: median(answers.map(({ afterMs }) => afterMs)),
    underThreeSeconds: shareOf(deliberate, ({ afterMs }) => afterMs < hastyMs),
    glanced: shareOf(viewTimes, (viewMs) => viewMs < hastyMs),
    inBatches: shareOf(answers, ({ inBatch }) => inBatch),
    verified: shareOf(answers, ({ verified }) => verified),
  };
}

/** True for a denial in a batch. A denied call does not run, so a quick answer to it is no sign of haste. */
export function isBulkDenial({ approved, inBatch }: Pick<Answer, 'approved' | 'inBatch'>): boolean {
  return !approved && inBatch;
}

/** A share of a total: `count` out of `of`. */
export interface Share {
  count: number;
  of: number;
}

/** One answer that a person gave to a request. */
export interface Answer {
  /** Null if the decision names no reviewer. */
  reviewerId: string | null;
  /** The reviewer's name, as the sender of the decision claims it. */
  reviewerName?: string;
  approved: boolean;
  /** The time from the opening of the request to the answer, in milliseconds. */
  afterMs: number;
  verified: boolean;
  /** How long the card was displayed, as reported by the channel of the decision. */
  viewedMs?: number;
  /** True if the channel reports that the answer was given together with others. */
  inBatch: boolean;
}

/** Returns the answers of people to a request: the votes, and the one that settled it. Skips those with wrong times. */
export function answersOf(request: ProjectedRequest): Answer[] {
  const { votes = [], outcome, reviewerId, reviewerName, identity, settledAt = '', viewed } = request;
  const settling = isByPeople(outcome)
    ? [{ reviewerId, reviewerName, identity, viewed, approved: outcome === 'approved', at: settledAt }]
    : [];
  return [...votes, ...settling].flatMap((vote): Answer[] => {
    const afterMs = timeOf(vote.at) - timeOf(request.openedAt);
    // A settlement without an identity is no answer: a change of the policy made it.
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
        inBatch: isInBatch(seen),
      },
    ];
  });
}

/** Returns the names of the people who gave answers, each once, as `shown` writes them. */
export function namesOf(answers: readonly Answer[], shown: typeof shownPerson): string[] {
  const names = answers.map(({ reviewerId, reviewerName }) =>
    reviewerId === null ? unnamed : shortened(shown(reviewerId, reviewerName), longestRowName),
  );
  return [...new Set(names)];
}

/** True if a channel reports that this decision was sent together with others. */
export function isInBatch(viewed: Viewed | undefined): boolean {
  return (viewed?.batch ?? 1) > 1;
}

export function isByPeople(outcome: string | undefined): boolean {
  return outcome === 'approved' || outcome === 'denied' || outcome === 'responded';
}

export function shareOf<One>(all: readonly One[], holds: (one: One) => boolean): Share {
  return { count: all.filter(holds).length, of: all.length };
}

/** Returns the middle value, or the mean of the two in the middle; null without values. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : Math.round((sorted[middle - 1]! + sorted[middle]!) / 2);
}

/** Converts an instant (ISO 8601) to milliseconds since 1970; NaN if it is invalid. */
export function timeOf(at: string): number {
  // oxlint-disable-next-line no-restricted-globals -- parses a given date; reads no clock
  return Date.parse(at);
}
