import { type ApprovalDetails, queryNames } from '../../contract.ts';
import { type ApprovalSummary, rowPeople, type RowPeople, summaryOf } from '../../core/ledger/approval-index.ts';
import { readingRemedy } from '../../connection/server-error.ts';
import { callServer, inParallel, type Session } from '../server/session.ts';
import { markUndelivered, undeliveredRequests } from './deliveries.ts';
import { type Batch, inboxBatches, type InboxCursor, readCursor, writeCursor } from './inbox-batches.ts';
import type { WaitingRun } from './waiting-runs.ts';
import { describeRun, memoRows, listedExecutions, settledIdsIn } from '../server/memo-rows.ts';
import { queryRun } from '../server/ask-worker.ts';
import { allIdsOf, type Directory, personKeyIn, personOf } from '../../core/people/directory.ts';
import { nfc } from '../../core/base/text.ts';

/** Which open requests to list. Default: all. */
export interface ApprovalFilter {
  tool?: string;
  agent?: string;
  /** The run whose requests are listed. They are read from the run itself, so without delay. */
  workflowId?: string;
  /** The maximum number of rows. Default 100; `Infinity` reads the whole inbox. */
  limit?: number;
  /** The `next` of the page before, for what follows it. Use the same filters. */
  after?: string;
}

/** A run whose open requests this client cannot read, because it lacks a codec of the workers or its key. */
export interface UnreadRun {
  workflowId: string;
  /** The ids of its open requests. */
  requestIds: string[];
  /** The reason why they cannot be read, and the remedy. */
  message: string;
}

/** A page of the inbox. Runs come by their earliest deadline, rows by their own, and those without one last. */
export interface ApprovalList {
  approvals: ApprovalSummary[];
  /** The number of open requests beyond the limit, or that only a worker can read. With `next` there may be others. */
  more: number;
  /** The `after` of the next page, which may be empty. Absent after the last page. */
  next?: string;
  /** The runs whose requests cannot be read here. A filter by tool or agent does not apply to them. */
  unread: UnreadRun[];
}

/**
 * Lists open requests from visibility, which lags by up to seconds, or those of one run from its memo, without delay.
 * Needs no worker. Filters apply to the rows after reading: a query cannot quote every name of a tool or an agent.
 * Throws `invalid_message` for an invalid `after`.
 */
export async function listApprovals(session: Session, filter: ApprovalFilter = {}): Promise<ApprovalList> {
  const { workflowId } = filter;
  const limit = Math.max(1, filter.limit ?? 100);
  const after = filter.after === undefined ? undefined : readCursor(filter.after);
  const batches = workflowId === undefined ? inboxBatches(session, limit, after) : onlyRun(session, workflowId);
  const undelivered = undeliveredRequests(session);
  const list: ApprovalList = { approvals: [], more: 0, unread: [] };
  for await (const batch of batches) {
    const runs = runsFrom(batch.runs, after);
    const rowsOfRuns = await inParallel(runs, runsAtOnce, (run) => rowsOf(session, run));
    for (const [index, run] of runs.entries()) {
      const { rows, missing, unread } = rowsOfRuns[index]!;
      const wanted = rowsAfter(rows.toSorted(byDeadline), run, after).filter(fits(filter));
      const room = Math.max(0, limit - list.approvals.length - list.unread.length);
      list.more += missing + Math.max(0, wanted.length - room);
      list.approvals.push(...wanted.slice(0, room));
      if (unread !== undefined && room > 0) list.unread.push(unread);
      // The next page begins after the last row that fits or, if no row of this run fits, after the run before.
      const hasRest = wanted.length > room || (unread !== undefined && room === 0);
      if (hasRest && room > 0) list.next = placeIn(batch, run, wanted[room - 1]!.requestId);
      else if (hasRest) list.next ??= placeIn(batch, runs[index - 1] ?? run);
    }
    const isFull = list.approvals.length + list.unread.length >= limit;
    const last = batch.runs.at(-1);
    if (batch.isLast || list.next !== undefined) break;
    if (isFull && last !== undefined) {
      list.next = placeIn(batch, last);
      break;
    }
  }
  list.approvals = (await markUndelivered(list.approvals, undelivered)).toSorted(byDeadline);
  return list;
}

/** The number of runs queried at the same time for rows that did not fit into their memos. */
const runsAtOnce = 8;

function fits(filter: ApprovalFilter): (row: ApprovalSummary) => boolean {
  const agent = nfc(filter.agent);
  return (row) =>
    (filter.tool === undefined || row.toolName === filter.tool) && (agent === undefined || row.agentName === agent);
}

/** Returns the runs of a batch from the run of a cursor on, because the page before may have shown a part of it. */
function runsFrom(runs: WaitingRun[], after: InboxCursor | undefined): WaitingRun[] {
  if (after === undefined) return runs;
  if ('dueMs' in after) {
    return runs.filter(({ dueMs, workflowId }) => {
      return dueMs === null || dueMs > after.dueMs || (dueMs === after.dueMs && workflowId >= after.run);
    });
  }
  // In the server's order; all of them if the run of the cursor has gone.
  const undated = runs.filter(({ dueMs }) => dueMs === null);
  const index = undated.findIndex(({ workflowId }) => workflowId === after.run);
  return undated.slice(Math.max(0, index));
}

/** Returns the rows of a run after a place: all if the place is in another run, or if the request there has gone. */
function rowsAfter(rows: ApprovalSummary[], run: WaitingRun, after: InboxCursor | undefined): ApprovalSummary[] {
  if (after === undefined || run.workflowId !== after.run) return rows;
  // A place without a request is after the whole run.
  return after.request === '' ? [] : rows.slice(rows.findIndex(({ requestId }) => requestId === after.request) + 1);
}

/** The place after a request of a run, or after the whole run. */
function placeIn({ from }: Batch, run: WaitingRun, request = ''): string {
  const place = { run: run.workflowId, request };
  if ('token' in from) return writeCursor({ ...place, token: from.token });
  return writeCursor(run.dueMs === null ? { ...place, token: '' } : { ...place, dueMs: run.dueMs, ...from });
}

export function unreadRun(workflowId: string, requestIds: string[], why: string): UnreadRun {
  const message = `The open requests of run '${workflowId}' cannot be read: ${why}. ${readingRemedy}`;
  return { workflowId, requestIds, message };
}

interface RunRows {
  rows: ApprovalSummary[];
  missing: number;
  unread?: UnreadRun;
}

/** Returns the rows of a run's memo or, if the memo lacks some, of a query. `missing`: rows in neither. */
async function rowsOf(session: Session, run: WaitingRun): Promise<RunRows> {
  const { workflowId, openIds } = run;
  const { rows, more, unread } = memoRows(run);
  if (unread !== undefined) return { rows, missing: 0, unread: unreadRun(workflowId, openIds, unread) };
  if (more === 0) return { rows, missing: 0 };
  try {
    const { glanceTimeoutMs } = session.limits;
    const open = await queryRun<ApprovalDetails[]>(session, workflowId, queryNames.approvals, [], glanceTimeoutMs);
    // Rows that name another workflow are dropped, as in a memo.
    const own = open.filter((request) => request.workflowId === workflowId);
    return { rows: own.map((request) => ({ ...summaryOf(request), ...peopleIn(request) })), missing: 0 };
  } catch {
    return { rows, missing: more }; // keep the memo's rows; the count includes the others
  }
}

/** Returns the people of a request as the run would write them into a row. */
function peopleIn(request: ApprovalDetails): RowPeople {
  const { reviewers, delegations = [], approvers, escalated, cannotBeApproved, callerUserId, people = {} } = request;
  // A row has only names, so groups and keys may be empty.
  const named = Object.entries(people).map(([id, person]) => [id, { ...person, groups: [], keys: [] }]);
  const directory: Directory = { people: Object.fromEntries(named) as Directory['people'] };
  const keyOf = personKeyIn(directory);
  return rowPeople({
    reviewers,
    delegations,
    approvers: approvers && allIdsOf(directory, approvers, keyOf),
    ...(escalated !== undefined && { escalated }),
    cannotBeApproved,
    callerName: callerUserId === null ? undefined : personOf(directory, callerUserId, keyOf)?.name,
  });
}

async function* onlyRun(session: Session, workflowId: string): AsyncGenerator<Batch> {
  const run = await callServer(session, () => describeRun(session, workflowId), { workflowId, timeoutMs: 30_000 });
  yield { runs: run.isRunning ? [{ ...run, dueMs: null }] : [], from: { token: '' }, isLast: true };
}

/** Compares rows by deadline. Equal rows of a run stay in the order in which its calls were made. */
function byDeadline(one: ApprovalSummary, other: ApprovalSummary): number {
  // `~` comes after every instant, so a request without a deadline comes last.
  const [first, second] = [one, other].map((row) => `${row.deadline ?? '~'} ${row.requestedAt} ${row.workflowId}`);
  return first === second ? 0 : first! < second! ? -1 : 1;
}

const pageSize = 250;
const mostPages = 4;

/**
 * Finds ids of settled requests by their beginning: the last 20 ids of a run, or of each of the newest 1,000
 * executions. Visibility itself finds only whole ids. Everyone who may start workflows can write such an id, so verify
 * each.
 */
export async function settledIds(
  session: Session,
  { startsWith, workflowId }: { startsWith: string; workflowId?: string | undefined },
): Promise<string[]> {
  const listed = workflowId === undefined ? await settledOfNewest(session) : await settledOfRun(session, workflowId);
  return [...new Set(listed.filter((id) => id.startsWith(startsWith)))];
}

async function settledOfRun(session: Session, workflowId: string): Promise<string[]> {
  return (await callServer(session, () => describeRun(session, workflowId), { workflowId })).settledIds;
}

/** Reads the ids of settled requests from the tags of the newest executions. */
async function settledOfNewest(session: Session): Promise<string[]> {
  const { tags } = session.attributes;
  if (tags === null) return [];
  const ids: string[] = [];
  let pages = 0;
  for await (const page of listedExecutions(session, { query: `${tags} IS NOT NULL`, pageSize })) {
    ids.push(...page.flatMap((row) => settledIdsIn(session, row)));
    if (++pages === mostPages) break;
  }
  return ids;
}
