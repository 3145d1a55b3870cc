/**
 * Counts in journals how rules ask, how reviewers answer and what agents use. docs/statistics.md explains each figure.
 */
import type { Directory } from '../core/people/directory.ts';
import { projectJournal } from '../events/journal.ts';
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
  for (const run of runs) {
    const asking = new Map<string | undefined, Deciding>();
    const entries = run.entries.filter(isWellFormedEntry);
    for (const entry of entries) {
      const { kind, requestId, rule } = entry;
      if (kind === 'opened') asking.set(requestId, entry);
      // An entry of kind `reruled` has no layer, so keep the earlier one.
      else if (kind === 'reruled') asking.set(requestId, { ...asking.get(requestId), rule });
      else if (kind === 'ruling' && timeOf(entry.at) >= sinceMs) tallyOf(run, entry).counts[countOf(entry)] += 1;
    }
    for (const request of projectJournal(entries, run.ended).requests) {
      const openedMs = timeOf(request.openedAt);
      if (!(openedMs >= sinceMs)) continue;
      const { counts, times, readingTimes } = tallyOf(run, asking.get(request.requestId) ?? {});
      const { outcome = 'open', settledAt, viewed } = request;
      counts.asked += 1;
      counts[isSettled(outcome) ? outcome : 'open'] += 1;
      if (isByPeople(outcome)) {
        const timeMs = Math.max(0, timeOf(settledAt ?? '') - openedMs);
        times.push(timeMs);
        const isQuickByNature = isBulkDenial({ approved: outcome !== 'denied', inBatch: isInBatch(viewed) });
        if (!isQuickByNature) readingTimes.push(timeMs);
      }
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
