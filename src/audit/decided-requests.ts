import { shortened } from '../core/base/text.ts';
import { csvCell } from './csv.ts';
import { personKeyIn, personsShown, isSamePerson } from '../core/people/directory.ts';
import type { OutcomeName, Ran } from '../core/ledger/approval.ts';
import { isReplaced } from '../core/ledger/journal-entry.ts';
import { projectJournal } from '../events/journal.ts';
import { type CountedRun, isWellFormedEntry } from './decision-statistics.ts';
import { answersOf, longestRowName, namesOf, timeOf } from './statistics-rows.ts';

/** A settled request. Times are ISO 8601. */
export interface DecidedRequest {
  workflowId: string;
  requestId: string;
  toolName: string;
  agent?: string;
  outcome: OutcomeName;
  /** The people who answered. Empty if a deadline, a policy or the end of the run settled the request. */
  reviewers: string[];
  /** True if one of the answers is the reader's own. */
  mine: boolean;
  reason?: string;
  /** True if a reviewer changed the arguments. */
  edited?: true;
  openedAt: string;
  settledAt: string;
  /** The time from opening to settlement, in milliseconds. */
  tookMs: number;
  /** Whether the call ran. Absent if nothing is recorded. */
  ran?: Ran;
}

const longestReason = 300;

/** Returns requests settled since `sinceMs`, the newest first; `readerId` is for `mine`. Skips malformed entries. */
export function decidedRequests(
  runs: readonly (CountedRun & { workflowId: string })[],
  { sinceMs, readerId }: { sinceMs: number; readerId: string },
): DecidedRequest[] {
  const decided = runs.flatMap((run) => decidedInRun(run, readerId));
  return decided
    .filter(({ settledAt }) => timeOf(settledAt) >= sinceMs)
    .sort((one, other) => timeOf(other.settledAt) - timeOf(one.settledAt));
}

/** Returns the settled requests of one run. One that its own journal settles before its opening took 0 ms. */
function decidedInRun(
  { workflowId, ended, directory, ...run }: CountedRun & { workflowId: string },
  readerId: string,
): DecidedRequest[] {
  const entries = run.entries.filter(isWellFormedEntry);
  const openings = new Map(entries.flatMap((entry) => (entry.kind === 'opened' ? [[entry.requestId, entry]] : [])));
  const { requests, outcomes } = projectJournal(entries, ended);
  const ran = new Map(outcomes.map((outcome) => [outcome.requestId, outcome.ran]));
  const keyOf = personKeyIn(directory);
  const shown = personsShown(directory?.people);
  return requests.flatMap((request) => {
    const { requestId, toolName, outcome, openedAt, settledAt, reason } = request;
    // An edit replaced this request by a new one about the edited call, and the list has the new one.
    if (outcome === undefined || settledAt === undefined || isReplaced(request)) return [];
    const opening = openings.get(requestId);
    const agent = opening?.agent ?? run.agent;
    const answers = answersOf(request);
    return [
      {
        workflowId,
        requestId,
        toolName: shortened(toolName, longestRowName),
        ...(agent !== undefined && { agent: shortened(agent, longestRowName) }),
        outcome,
        reviewers: namesOf(answers, shown),
        mine: answers.some(({ reviewerId }) => reviewerId !== null && isSamePerson(reviewerId, readerId, keyOf)),
        ...(reason !== undefined && { reason: shortened(reason, longestReason) }),
        ...(opening?.by === 'edit' && { edited: true as const }),
        openedAt,
        settledAt,
        tookMs: Math.max(0, timeOf(settledAt) - timeOf(openedAt)),
        ...(ran.get(requestId) !== undefined && { ran: ran.get(requestId)! }),
      },
    ];
  });
}

const columns: Readonly<Record<string, (request: DecidedRequest) => string | number | boolean | undefined>> = {
  settledAt: ({ settledAt }) => settledAt,
  tool: ({ toolName }) => toolName,
  agent: ({ agent }) => agent,
  outcome: ({ outcome }) => outcome,
  reviewers: ({ reviewers }) => reviewers.join('; '),
  reason: ({ reason }) => reason,
  edited: ({ edited }) => edited ?? false,
  tookMs: ({ tookMs }) => tookMs,
  ran: ({ ran }) => ran,
  openedAt: ({ openedAt }) => openedAt,
  requestId: ({ requestId }) => requestId,
  workflowId: ({ workflowId }) => workflowId,
};

/** Writes requests as a table for spreadsheets. Its first line has the names of the columns. */
export function decidedCsv(requests: readonly DecidedRequest[]): string {
  const rows = requests.map((request) => Object.values(columns).map((column) => csvCell(column(request))));
  return [Object.keys(columns), ...rows].map((row) => `${row.join(',')}\n`).join('');
}
