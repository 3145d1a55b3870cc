import { shortened } from '../core/base/text.ts';
import { membersOf, personKeyIn, type Directory, type shownPerson } from '../core/people/directory.ts';
import { personKey } from '../core/people/person-key.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import type { Viewed } from '../core/messages/viewed.ts';
import type { ProjectedRequest } from '../events/journal.ts';

/** The effects of one rule. */
export interface RuleStatistics {
  /** The id of the rule. Null: no rule decided, but the risk of the tool, the mode of the run or a grant. */
  rule: string | null;
  layer: string;
  /** For a rule of the operator's policy: the digest of that policy. */
  policy?: string;
  /** For a rule of an agent's or a run's own policy: the agent that made the calls. */
  agent?: string;
  /** Calls that ran without a question. */
  allowed: number;
  /** Calls that the policy denied. */
  deniedByPolicy: number;
  /** Calls that a limit, an earlier denial or the result of an equal call answered. */
  answeredBefore: number;
  /** Requests that were opened. The next seven numbers add up to this one. */
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
  /** The median time from request to settlement, of the requests settled by people, in milliseconds. */
  medianMs: number | null;
  /** Of the requests settled by people, without denials in bulk: those settled in less than three seconds. */
  underThreeSeconds: Share;
  /** The share of expired requests among the settled ones. */
  expiredShare: Share;
}

/** How one reviewer answers. */
export interface ReviewerStatistics {
  /** The id of the reviewer. Null: the row of all decisions without a reviewer. */
  reviewerId: string | null;
  /** The reviewer's display name, from the last decision that has one. */
  reviewerName?: string;
  answers: number;
  approvalRate: Share;
  /** The median time from request to answer, in milliseconds. */
  medianMs: number | null;
  /** Of the answers, without denials in bulk: those given less than three seconds after the request was opened. */
  underThreeSeconds: Share;
  /** Cards displayed for less than three seconds, of the answers with a reported time, without denials in bulk. */
  glanced: Share;
  /** The share of answers that were given together with others. */
  inBatches: Share;
  /** The share of answers whose sender the run has verified. */
  verified: Share;
}

/** A decision in less time than this is hardly more than a click. */
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
  /** The times from request to settlement, of the requests settled by people, in milliseconds. */
  times: number[];
  /** These times without those of denials in bulk. */
  readingTimes: number[];
}

export function noCounts(): Counts {
  const settled = { approved: 0, denied: 0, responded: 0, expired: 0, cancelled: 0, superseded: 0, open: 0 };
  return { allowed: 0, deniedByPolicy: 0, answeredBefore: 0, asked: 0, ...settled };
}

/** With its policy or agent: rules of different policies may have the same id, such as `run#1`. */
export function placeOf(
  run: { policy?: string; agent?: string },
  { rule = null, layer = 'default', agent = run.agent }: Deciding,
): Place {
  const name = rule === null ? null : shortened(rule, longestRowName);
  // A grant is not named: its id does not identify a rule, and each run has other grants.
  if (layer === 'grant' || name === null) return { rule: null, layer };
  if (layer === 'ceiling') return { rule: name, layer, ...(run.policy !== undefined && { policy: run.policy }) };
  return { rule: name, layer, ...(agent !== undefined && { agent: shortened(agent, longestRowName) }) };
}

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

/** The answers of people, in all spellings of their ids. */
export class AnswersOfPeople {
  readonly #people = new Map<string | null, { id: string | null; answers: Answer[] }>();

  /** `directory`: that of the run with the answer. */
  add(directory: Directory | undefined, answer: Answer): void {
    const id = answer.reviewerId === null ? null : idIn(directory, answer.reviewerId);
    const key = id === null ? null : personKey(id);
    const known = this.#people.get(key);
    if (known === undefined) this.#people.set(key, { id, answers: [answer] });
    else known.answers.push(answer);
  }

  /** The figures of each person; the one with the most answers comes first. */
  rows(): ReviewerStatistics[] {
    return [...this.#people.values()]
      .map(({ id, answers }) => reviewerRow(id, answers))
      .sort((one, other) => other.answers - one.answers);
  }
}

/** The id as the directory writes it; without an entry, as it is. */
function idIn(directory: Directory | undefined, reviewerId: string): string {
  const [id = reviewerId] = membersOf(directory, [reviewerId], personKeyIn(directory));
  return shortened(id, longestRowName);
}

function reviewerRow(reviewerId: string | null, answers: readonly Answer[]): ReviewerStatistics {
  const read = answers.filter((answer) => !isBulkDenial(answer));
  const viewed = read.flatMap(({ viewedMs }) => viewedMs ?? []);
  const reviewerName = answers.findLast((answer) => answer.reviewerName !== undefined)?.reviewerName;
  return {
    reviewerId,
    ...(reviewerName !== undefined && { reviewerName: shortened(reviewerName, longestRowName) }),
    answers: answers.length,
    approvalRate: shareOf(answers, ({ approved }) => approved),
    medianMs: median(answers.map(({ afterMs }) => afterMs)),
    underThreeSeconds: shareOf(read, ({ afterMs }) => afterMs < hastyMs),
    glanced: shareOf(viewed, (each) => each < hastyMs),
    inBatches: shareOf(answers, ({ inBatch }) => inBatch),
    verified: shareOf(answers, ({ verified }) => verified),
  };
}

/** True for a denial given together with others: it runs nothing, and one look at the list is enough for it. */
export function isBulkDenial({ approved, inBatch }: Pick<Answer, 'approved' | 'inBatch'>): boolean {
  return !approved && inBatch;
}

/** A share: `count` of `of` things. */
export interface Share {
  count: number;
  of: number;
}

/** One answer that a person gave to a request. */
export interface Answer {
  /** Null: the decision has no reviewer. */
  reviewerId: string | null;
  /** The reviewer's name. The sender of the decision claims it. */
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

/** The answers of people to a request, in order: the votes, and the one that settled it. */
export function answersOf(request: ProjectedRequest): Answer[] {
  const { votes = [], outcome, reviewerId, reviewerName, identity, settledAt = '', viewed } = request;
  const settling = isByPeople(outcome)
    ? [{ reviewerId, reviewerName, identity, viewed, approved: outcome === 'approved', at: settledAt }]
    : [];
  return [...votes, ...settling].flatMap((vote): Answer[] => {
    const afterMs = timeOf(vote.at) - timeOf(request.openedAt);
    // Leave out a settlement without an identity: a change of the policy made it, not an answer.
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

/** The people who gave answers, as people read them, each once. */
export function namesOf(answers: readonly Answer[], shown: typeof shownPerson): string[] {
  const names = answers.map(({ reviewerId, reviewerName }) =>
    reviewerId === null ? unnamed : shortened(shown(reviewerId, reviewerName), longestRowName),
  );
  return [...new Set(names)];
}

/** True if a channel reports that others were decided with it. */
export function isInBatch(viewed: Viewed | undefined): boolean {
  return (viewed?.batch ?? 1) > 1;
}

export function isByPeople(outcome: string | undefined): boolean {
  return outcome === 'approved' || outcome === 'denied' || outcome === 'responded';
}

export function shareOf<One>(all: readonly One[], holds: (one: One) => boolean): Share {
  return { count: all.filter(holds).length, of: all.length };
}

/** The middle value, or the mean of the two in the middle; null without values. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : Math.round((sorted[middle - 1]! + sorted[middle]!) / 2);
}

/** An instant (ISO 8601) in milliseconds since 1970; NaN if it is invalid. */
export function timeOf(at: string): number {
  // oxlint-disable-next-line no-restricted-globals -- parses a given date; reads no clock
  return Date.parse(at);
}
