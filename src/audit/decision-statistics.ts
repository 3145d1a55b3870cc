/** Counts in journals how rules ask, how reviewers answer and what agents use (docs/statistics.md). */
import type { Directory } from '../core/people/directory.ts';
import { type ProjectedRequest, projectJournal } from '../events/journal.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import { type AgentUsage, agentUsage, type UsingRun } from './agent-usage.ts';
import type { Deciding, ReviewerStatistics, RuleStatistics, Tally } from './statistics-rows.ts';
import {
  AnswersOfPeople,
  answersOf,
  isBulkDenial,
  isByPeople,
  isInBatch,
  timeOf,
  noCounts,
  placeOf,
  ruleRow,
} from './statistics-rows.ts';
import { viewedProblem } from '../core/messages/viewed.ts';

const texts = [
  'callId',
  'requestId',
  'toolName',
  'agent',
  'outcome',
  'layer',
  'reviewerId',
  'reviewerName',
  'identity',
] as const;

export interface CountedRun extends UsingRun {
  entries: readonly JournalEntry[];
  /** The digest of the operator's policy. Absent if the run recorded none. */
  policy?: string;
  /** The directory of people in the operator's policy, if it has one. */
  directory?: Directory;
  /** True if the run was terminated or timed out, so that it did not record the end of its open requests. */
  ended?: boolean;
}

/** The result of `decisionStatistics`. */
export interface DecisionStatistics {
  /** The figures of each rule; the rule with the most requests comes first. At most 500. */
  rules: RuleStatistics[];
  /** The figures of each reviewer; the one with the most answers comes first. At most 200. */
  reviewers: ReviewerStatistics[];
  /** The figures of each agent; the one with the most tokens comes first. At most 200. */
  agents: AgentUsage[];
  /** How many rows of each list are left out. */
  left: { rules: number; reviewers: number; agents: number };
}

const mostRules = 500;
const mostReviewers = 200;
const mostAgents = 200;

/**
 * Counts the calls on which the policies ruled, and the requests that were opened, at `sinceMs` or later. Anyone who
 * runs a workflow can write into its history, so malformed entries are skipped, and names are cut.
 */
export function decisionStatistics(runs: readonly CountedRun[], sinceMs: number): DecisionStatistics {
  const tallies = new Map<string, Tally>();
  const reviewers = new AnswersOfPeople();
  const tallyOf = (run: CountedRun, deciding: Deciding): Tally => {
    const place = placeOf(run, deciding);
    const key = JSON.stringify(place);
    const known = tallies.get(key) ?? { place, counts: noCounts(), times: [], readingTimes: [] };
    tallies.set(key, known);
    return known;
  };
  const isInTime = (at: string): boolean => timeOf(at) >= sinceMs;
  for (const run of runs) {
    const entries = run.entries.filter(isWellFormedEntry);
    for (const entry of entries) {
      if (entry.kind === 'ruling' && isInTime(entry.at)) tallyOf(run, entry).counts[countOf(entry)] += 1;
    }
    const rulesThatAsk = askingRules(entries);
    for (const request of projectJournal(entries, run.ended).requests) {
      if (!isInTime(request.openedAt)) continue;
      // A request whose opening is malformed counts for the default.
      countRequest(tallyOf(run, rulesThatAsk.get(request.requestId) ?? {}), request);
      for (const answer of answersOf(request)) reviewers.add(run.directory, answer);
    }
  }
  const rules = [...tallies.values()]
    .map(ruleRow)
    .sort((one, other) => other.asked - one.asked || callsWithoutRequest(other) - callsWithoutRequest(one));
  const people = reviewers.rows();
  const agents = agentUsage(runs);
  const left = (rows: readonly unknown[], most: number): number => Math.max(0, rows.length - most);
  return {
    rules: rules.slice(0, mostRules),
    reviewers: people.slice(0, mostReviewers),
    agents: agents.slice(0, mostAgents),
    left: { rules: left(rules, mostRules), reviewers: left(people, mostReviewers), agents: left(agents, mostAgents) },
  };
}

/** Returns the rule that asks about each request, by request id. A later ruling on the request replaces the rule. */
function askingRules(entries: readonly JournalEntry[]): Map<string | undefined, Deciding> {
  const rules = new Map<string | undefined, Deciding>();
  for (const entry of entries) {
    const { kind, requestId, rule } = entry;
    if (kind === 'opened') rules.set(requestId, entry);
    // An entry of kind `reruled` has no layer, so keep the earlier one.
    if (kind === 'reruled') rules.set(requestId, { ...rules.get(requestId), rule });
  }
  return rules;
}

/** Adds a request to the figures of its rule. Only times until people settled it count, not all of them as reading. */
function countRequest({ counts, times, readingTimes }: Tally, request: ProjectedRequest): void {
  const { outcome = 'open', openedAt, settledAt = '', viewed } = request;
  counts.asked += 1;
  counts[isSettled(outcome) ? outcome : 'open'] += 1;
  if (!isByPeople(outcome)) return;
  const timeMs = Math.max(0, timeOf(settledAt) - timeOf(openedAt));
  times.push(timeMs);
  if (!isBulkDenial({ approved: outcome !== 'denied', inBatch: isInBatch(viewed) })) readingTimes.push(timeMs);
}

const settledStates = ['approved', 'denied', 'responded', 'expired', 'cancelled', 'superseded'] as const;

/** True for an outcome for which the statistics have a figure. */
export function isSettled(outcome: string): outcome is (typeof settledStates)[number] {
  return settledStates.some((each) => each === outcome);
}

export function countOf({ outcome }: JournalEntry): 'allowed' | 'deniedByPolicy' | 'answeredBefore' {
  if (outcome === 'allowed') return 'allowed';
  return outcome === 'denied_by_policy' ? 'deniedByPolicy' : 'answeredBefore';
}

function callsWithoutRequest({ allowed, deniedByPolicy, answeredBefore }: RuleStatistics): number {
  return allowed + deniedByPolicy + answeredBefore;
}

/** True if the members of an entry have the types that the gate gives them. */
export function isWellFormedEntry(entry: JournalEntry): boolean {
  const { seq, kind, at, rule, viewed } = entry;
  return (
    Number.isSafeInteger(seq) &&
    typeof kind === 'string' &&
    typeof at === 'string' &&
    !Number.isNaN(timeOf(at)) &&
    (rule === undefined || rule === null || typeof rule === 'string') &&
    texts.every((name) => entry[name] === undefined || typeof entry[name] === 'string') &&
    (viewed === undefined || viewedProblem(viewed) === undefined)
  );
}
