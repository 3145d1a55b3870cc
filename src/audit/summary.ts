import { codeSpan } from '../card/render-markdown.ts';
import { countedNoun, grouped } from '../card/cut-text.ts';
import { shortened } from '../core/base/text.ts';
import { severities, type Severity } from '../core/base/tool-call.ts';
import type { Ran } from '../core/ledger/approval.ts';
import { isReplaced, type JournalEntry } from '../core/ledger/journal-entry.ts';
import { personsShown, shownPerson } from '../core/people/directory.ts';
import { type ProjectedRequest, projectJournal } from '../events/journal.ts';
import { instantText, timeLeft } from '../text/instant-text.ts';
import { shownName } from '../text/visible-text.ts';
import { agentUsage, type AgentUsage } from './agent-usage.ts';
import { type CountedRun, countOf, isSettled, isWellFormedEntry } from './decision-statistics.ts';
import type { ReviewerStatistics, RuleStatistics } from './statistics-rows.ts';
import {
  AnswersOfPeople,
  answersOf,
  isByPeople,
  longestRowName,
  median,
  namesOf,
  noCounts,
  timeOf,
  unnamed,
} from './statistics-rows.ts';

type Counts = Omit<ReturnType<typeof noCounts>, 'open'>;

/**
 * What was asked and decided since a given time. A request counts once when it is opened and once when it is settled,
 * so summaries of consecutive weeks count each event once. Times are ISO 8601.
 */
export interface DecisionSummary extends Counts {
  since: string;
  at: string;
  runs: number;
  /** Runs that were found but could not be read, or not in time. */
  unread: number;
  more: boolean;
  /** The expired requests whose calls ran because of `on_timeout: allow`. */
  expiredAllowed: number;
  /** The median time until people settled a request, in milliseconds. */
  medianMs: number | null;
  longestMs: number | null;
  /** The figures of each tool, the one with the most requests first. At most 200. */
  tools: ToolSummary[];
  /** The figures of each reviewer, from the answers since then. At most 200. */
  reviewers: ReviewerStatistics[];
  agents: AgentUsage[];
  /** Approvals of calls of high or critical severity, the most severe first, then the newest. At most 200. */
  severe: SevereApproval[];
  severeCount: number;
  /** The requests that are open now, the oldest first. At most 200. */
  open: OpenSummary[];
  openCount: number;
}

interface ToolSummary extends Pick<RuleStatistics, 'asked' | 'approved' | 'denied' | 'expired' | 'medianMs'> {
  toolName: string;
}

interface ListedRequest {
  workflowId: string;
  requestId: string;
  toolName: string;
  agent?: string;
}

interface OpenSummary extends ListedRequest {
  openedAt: string;
}

interface SevereApproval extends ListedRequest {
  severity: Severity;
  /** The names of the people who approved. */
  reviewers: string[];
  settledAt: string;
  /** Whether the call ran. Absent if nothing is recorded. */
  ran?: Ran;
}

interface SummarizedRuns {
  runs: readonly (CountedRun & { workflowId: string })[];
  unread: number;
  more: boolean;
}

const mostRows = 200;
const severe: readonly (string | undefined)[] = ['high', 'critical'] satisfies Severity[];

/** Counts what happened at `sinceMs` or later. Skips malformed entries and cuts names, as anyone may write them. */
export function decisionSummary(
  { runs, unread, more }: SummarizedRuns,
  { sinceMs, nowMs }: { sinceMs: number; nowMs: number },
): DecisionSummary {
  const { open: _, ...counts } = noCounts();
  const tools = new Map<string, ToolSummary & { times: number[] }>();
  const answers = new AnswersOfPeople();
  const severeApprovals: SevereApproval[] = [];
  const open: OpenSummary[] = [];
  let expiredAllowed = 0;
  const toolOf = (toolName: string) => {
    const none = { asked: 0, approved: 0, denied: 0, expired: 0, medianMs: null, times: [] };
    const row = tools.get(toolName) ?? { toolName, ...none };
    tools.set(toolName, row);
    return row;
  };
  for (const run of runs) {
    const entries = run.entries.filter(isWellFormedEntry);
    const openings = new Map<string | undefined, JournalEntry>();
    for (const entry of entries) {
      if (entry.kind === 'opened') openings.set(entry.requestId, entry);
      else if (entry.kind === 'ruling' && timeOf(entry.at) >= sinceMs) counts[countOf(entry)] += 1;
    }
    const shown = personsShown(run.directory?.people);
    const { requests, outcomes } = projectJournal(entries, run.ended);
    const ranOf = new Map(outcomes.map(({ requestId, ran }) => [requestId, ran]));
    for (const request of requests) {
      const { requestId, outcome, openedAt, settledAt } = request;
      const opening = openings.get(requestId);
      const listed = listedRequest(run, request, opening);
      const tool = toolOf(listed.toolName);
      // A request about an edited call continues an earlier one, so it does not count again.
      if (timeOf(openedAt) >= sinceMs && opening?.by !== 'edit') {
        counts.asked += 1;
        tool.asked += 1;
      }
      for (const answer of answersOf(request)) {
        if (timeOf(openedAt) + answer.afterMs >= sinceMs) answers.add(run.directory, answer);
      }
      if (outcome === undefined) open.push({ ...listed, openedAt });
      // A terminated run records no time of settlement. It ended after `sinceMs`, or the survey would not have it.
      const isInTime = settledAt === undefined || timeOf(settledAt) >= sinceMs;
      if (outcome === undefined || !isSettled(outcome) || !isInTime || isReplaced(request)) continue;
      counts[outcome] += 1;
      if (outcome === 'expired' && request.runs === true) expiredAllowed += 1;
      if (outcome === 'approved' || outcome === 'denied' || outcome === 'expired') tool[outcome] += 1;
      if (settledAt === undefined || !isByPeople(outcome)) continue;
      tool.times.push(Math.max(0, timeOf(settledAt) - timeOf(openedAt)));
      if (outcome !== 'approved' || !severe.includes(opening?.severity)) continue;
      const ran = ranOf.get(requestId);
      const approving = answersOf(request).filter(({ approved }) => approved);
      const reviewers = namesOf(approving, shown);
      const severity = opening!.severity!;
      severeApprovals.push({ ...listed, severity, reviewers, settledAt, ...(ran !== undefined && { ran }) });
    }
  }
  const times = [...tools.values()].flatMap((tool) => tool.times);
  return {
    since: iso(sinceMs),
    at: iso(nowMs),
    runs: runs.length,
    unread,
    more,
    ...counts,
    expiredAllowed,
    medianMs: median(times),
    longestMs: times.length === 0 ? null : times.reduce((one, other) => Math.max(one, other)),
    tools: [...tools.values()]
      .filter(({ asked, approved, denied, expired }) => asked + approved + denied + expired > 0)
      .map(({ times: ofTool, ...tool }) => ({ ...tool, medianMs: median(ofTool) }))
      .sort((one, other) => other.asked - one.asked || other.approved - one.approved)
      .slice(0, mostRows),
    reviewers: answers.rows().slice(0, mostRows),
    agents: agentUsage(runs).slice(0, mostRows),
    severe: severeApprovals
      .sort((one, other) => rank(other) - rank(one) || timeOf(other.settledAt) - timeOf(one.settledAt))
      .slice(0, mostRows),
    severeCount: severeApprovals.length,
    open: open.sort((one, other) => timeOf(one.openedAt) - timeOf(other.openedAt)).slice(0, mostRows),
    openCount: open.length,
  };
}

function rank({ severity }: SevereApproval): number {
  return severities.indexOf(severity);
}

function iso(ms: number): string {
  // oxlint-disable-next-line no-restricted-globals -- it converts a given instant
  return new Date(ms).toISOString();
}

/** Returns the names of a request, each cut. The agent is that of its entry, which may be another than the run's. */
function listedRequest(
  run: CountedRun & { workflowId: string },
  { requestId, toolName }: ProjectedRequest,
  opening: JournalEntry | undefined,
): ListedRequest {
  const agent = opening?.agent ?? run.agent;
  return {
    workflowId: run.workflowId,
    requestId: shortened(requestId, longestRowName),
    toolName: shortened(toolName, longestRowName),
    ...(agent !== undefined && { agent: shortened(agent, longestRowName) }),
  };
}

const mostShown = 10;

/** Renders the summary as Markdown for a chat or a mail. Untrusted texts are in code spans. Instants are in UTC. */
export function summaryMarkdown(summary: DecisionSummary): string {
  const { since, at, reviewers, tools } = summary;
  return [
    `## Approvals from ${instantText(since)} to ${instantText(at)}`,
    decisionLines(summary).join(' '),
    openLine(summary),
    table(['Tool', 'Asked', 'Approved', 'Denied', 'Expired', 'Median time'], tools, toolCells),
    table(['Reviewer', 'Answers', 'Approved', 'Under 3 s', 'Median time'], reviewers, reviewerCells),
    severeLines(summary),
    sourceLines(summary).join(' '),
  ]
    .filter((block) => block !== '')
    .join('\n\n');
}

/** Returns sentences about how the calls were decided. A count of zero has no sentence. */
function decisionLines(summary: DecisionSummary): string[] {
  const { asked, approved, denied, responded, expired, expiredAllowed, cancelled, superseded } = summary;
  const { allowed, deniedByPolicy, answeredBefore, medianMs, longestMs } = summary;
  const answered = part(responded, 'answered # instead of the tool');
  const decided = [...part(approved, 'approved #'), ...part(denied, 'denied #'), ...answered];
  return [
    asked === 0 ? 'No new call had to be approved.' : `People were asked to approve ${countedNoun(asked, 'call')}.`,
    ...(decided.length === 0 ? [] : [`${asked === 0 ? 'People' : 'They'} ${joined(decided)}.`]),
    ...part(expired, '# expired with no answer.'),
    ...part(expiredAllowed, 'Of these calls, rules let # run.'),
    ...part(cancelled, 'The end of a run cancelled #.'),
    ...part(superseded, 'A new policy or grant settled #.'),
    ...part(allowed, `Rules allowed ${countedNoun(allowed, 'call')} without a question.`),
    ...part(deniedByPolicy, `Rules denied ${countedNoun(deniedByPolicy, 'call')}.`),
    ...part(answeredBefore, `Limits and earlier answers settled ${countedNoun(answeredBefore, 'call')}.`),
    ...(medianMs === null
      ? []
      : [`Half of the decisions took at most ${timeLeft(medianMs)}, the slowest ${timeLeft(longestMs!)}.`]),
  ];
}

/** Returns the sentence with the count in place of `#`; no sentence for 0. */
function part(count: number, sentence: string): string[] {
  return count === 0 ? [] : [sentence.replace('#', grouped(String(count)))];
}

function joined(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)!}`;
}

function openLine({ at, open, openCount }: DecisionSummary): string {
  const [oldest] = open;
  if (oldest === undefined) return 'No request is open.';
  const waited = timeLeft(Math.max(0, timeOf(at) - timeOf(oldest.openedAt)));
  const is = openCount === 1 ? 'is' : 'are';
  return `${countedNoun(openCount, 'request')} ${is} open. The oldest has waited ${waited}: ${callText(oldest)}.`;
}

function callText({ toolName, agent, requestId }: ListedRequest): string {
  const of = agent === undefined ? '' : ` of agent ${name(agent)}`;
  return `${name(toolName)}${of}, request ${name(requestId.slice(0, 8))}`;
}

function toolCells({ toolName, asked, approved, denied, expired, medianMs }: ToolSummary): string[] {
  return [cell(toolName), ...[asked, approved, denied, expired].map(figure), timeCell(medianMs)];
}

function reviewerCells(row: ReviewerStatistics): string[] {
  const { reviewerId, reviewerName, answers, approvalRate, underThreeSeconds, medianMs } = row;
  const who = reviewerId === null ? unnamed : cell(shownPerson(reviewerId, reviewerName));
  return [who, ...[answers, approvalRate.count, underThreeSeconds.count].map(figure), timeCell(medianMs)];
}

function figure(count: number): string {
  return grouped(String(count));
}

function timeCell(ms: number | null): string {
  return ms === null ? '–' : timeLeft(ms);
}

/** Renders the first rows as a table, whose first column has names. Empty without rows. */
function table<Row>(head: readonly string[], rows: readonly Row[], cells: (row: Row) => readonly string[]): string {
  if (rows.length === 0) return '';
  const marks = head.map((_, column) => (column === 0 ? '---' : '---:'));
  const lines = [head, marks, ...rows.slice(0, mostShown).map(cells)].map((each) => `| ${each.join(' | ')} |`);
  return [...lines, ...moreLine(rows.length, '\n')].join('\n');
}

function moreLine(count: number, prefix = ''): string[] {
  return count <= mostShown ? [] : [`${prefix}and ${count - mostShown} more`];
}

/** Lists the first severe approvals below a title with the number of all; empty without one. */
function severeLines({ severe: rows, severeCount }: DecisionSummary): string {
  if (severeCount === 0) return '';
  const lines = rows.slice(0, mostShown).map((row) => {
    const who = row.reviewers.length === 0 ? '' : `, approved by ${joined(row.reviewers.map(name))}`;
    return `- ${row.severity}: ${callText(row)}${who}, ${instantText(row.settledAt)}${endOf(row.ran)}`;
  });
  const title = `Approved calls of high or critical severity: ${figure(severeCount)}`;
  return [`${title}\n`, ...lines, ...moreLine(severeCount, '- ')].join('\n');
}

function endOf(ran: Ran | undefined): string {
  if (ran === 'no') return '; it did not run';
  if (ran === 'unknown') return '; its outcome is unknown';
  return ran === 'pending' ? '; it has not ended' : '';
}

/** Returns sentences about the runs that were counted: what they used, and which are left out. */
function sourceLines({ runs, unread, more, agents }: DecisionSummary): string[] {
  const tokens = agents.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
  const used = tokens === 0 ? '' : ` Those that ended used ${countedNoun(tokens, 'token')}${costText(agents)}.`;
  return [
    `Counted from ${countedNoun(runs, 'run')}.${used}`,
    ...part(unread, '# more could not be read, and are not counted.'),
    ...(more ? ['There are further runs, which are not counted.'] : []),
  ];
}

/** Writes one amount for each currency: `at least` if the cost of a run is unknown. Empty without a known cost. */
function costText(agents: readonly AgentUsage[]): string {
  const sums = new Map<string, number>();
  for (const { currency, amount } of agents.flatMap(({ costs }) => costs)) {
    sums.set(currency, (sums.get(currency) ?? 0) + amount);
  }
  if (sums.size === 0) return '';
  const isIncomplete = agents.some(({ unpriced }) => unpriced > 0);
  const amounts = [...sums].map(([currency, amount]) => `${grouped(amount.toFixed(2))} ${currency}`);
  return `, for ${isIncomplete ? 'at least ' : ''}${joined(amounts)}`;
}

function name(text: string): string {
  return codeSpan(shownName(text));
}

/** Renders a name for a cell of a table, where a bar would end the cell, also in a code span. */
function cell(text: string): string {
  return codeSpan(shownName(text).replaceAll('|', String.raw`\u{007C}`));
}
