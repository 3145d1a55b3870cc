/**
 * Builds what the inbox can find without waking a worker: search attributes and memo, both with byte limits. The server
 * ends a run whose attribute value exceeds 2 KB (tested: 59 ids did), so every list here is bounded.
 */
import type { ApprovalRequest } from './approval.ts';
import { byteLength, fitting } from '../base/text.ts';
import { argumentBytes } from './hidden-arguments.ts';
import type { JournalEntry, JournalHead } from './journal-entry.ts';
import type { Ledger } from './ledger.ts';
import type { Severity } from '../base/tool-call.ts';
import { longestName } from './shown-arguments.ts';

/** The part of a request that the memo and lists show. Of argument values it holds only what `show` names. */
export type ApprovalSummary = Pick<
  ApprovalRequest,
  | 'requestId'
  | 'workflowId'
  | 'toolName'
  | 'riskLevel'
  | 'agentName'
  | 'callerUserId'
  | 'rule'
  | 'reason'
  | 'requestedAt'
  | 'deadline'
  | 'digest'
  | 'shownArguments'
  | 'notShown'
> & {
  argumentNames: string[];
  /** Bytes of the arguments' JSON. */
  argumentBytes?: number;
  severity: Severity;
  /** `all`: every argument can be read here in full. */
  shown: 'all' | 'part';
  /** For a nested run: workflow ids of the runs above it, the root's first. */
  lineage?: string[];
  /** In lists: no channel could deliver the request yet. Absent: one could, or none has tried. */
  undelivered?: true;
};

export interface ApprovalIndex {
  ids: string[];
  tags: string[];
  /** The earliest deadline of all open requests; null if none has one. */
  dueMs: number | null;
  memo: ApprovalMemo;
}

/** Memo `approvals`. `more`: the number of open requests that did not fit; query `approvals` lists all. */
export interface ApprovalMemo {
  open: ApprovalSummary[];
  journal: JournalEntry[];
  more?: number;
  /** Commits the run to all its journal entries so far. Absent in runs of older versions. */
  journalHead?: JournalHead;
}

const attributeBytes = 1_900;
const tagBytes = 128;
/** Settled ids that can still be found. */
const settledTagged = 20;
/** The beginning of a settled request's tag. The id follows. */
export const settledTag = 'settled:';
const memoOpenBytes = 16_000;
const memoJournalBytes = 14_000;
const shortText = 200;

export function approvalIndex(ledger: Ledger): Omit<ApprovalIndex, 'memo'> {
  const { open, settled } = ledger;
  const dues = open.flatMap(({ deadlineMs }) => (deadlineMs === null ? [] : [deadlineMs]));
  const live = open.flatMap(({ request }) => [
    `tool:${request.toolName}`,
    `agent:${request.agentName}`,
    `severity:${request.assessment.severity}`,
  ]);
  // Newest first, so that the oldest settled ids are dropped first.
  const past = settled.slice(-settledTagged).map(({ request }) => settledTag + request.requestId);
  const tags = [...new Set(live)].filter((tag) => byteLength(tag) <= tagBytes);
  return {
    ids: open.map(({ request }) => request.requestId),
    tags: fitting([...tags, ...past.toReversed()], attributeBytes),
    dueMs: dues.length === 0 ? null : Math.min(...dues),
  };
}

/** The memo, and the journal entries that did not fit and have to go into a later payload. */
export function approvalMemo(ledger: Ledger, entries: JournalEntry[]): { memo: ApprovalMemo; rest: JournalEntry[] } {
  const open = openRows(ledger.open.map(({ request }) => summaryOf(request)));
  const journal = fitting(entries, memoJournalBytes);
  const more = ledger.open.length - open.length;
  return { memo: { open, journal, ...(more > 0 ? { more } : {}) }, rest: entries.slice(journal.length) };
}

/** The rows that fit. Shown arguments take only room that no row needs, in the order of the requests. */
function openRows(rows: ApprovalSummary[]): ApprovalSummary[] {
  const bare = fitting(rows.map(withoutValues), memoOpenBytes);
  let left = memoOpenBytes - byteLength(JSON.stringify(bare));
  return bare.map((row, index) => {
    const full = rows[index]!;
    const more = byteLength(JSON.stringify(full)) - byteLength(JSON.stringify(row));
    if (more > left) return row;
    left -= more;
    return full;
  });
}

function withoutValues(row: ApprovalSummary): ApprovalSummary {
  if (row.shownArguments === undefined) return row;
  const { shownArguments: _, notShown: __, ...bare } = row;
  return { ...bare, shown: 'part' };
}

export function summaryOf(request: ApprovalRequest): ApprovalSummary {
  const { requestId, workflowId, toolName, riskLevel, agentName, callerUserId, rule, requestedAt, deadline, digest } =
    request;
  const { shownArguments, notShown } = request;
  return {
    requestId,
    workflowId,
    toolName,
    riskLevel,
    agentName: agentName.slice(0, shortText),
    callerUserId: callerUserId === null ? null : callerUserId.slice(0, shortText),
    rule: rule === null ? null : rule.slice(0, shortText),
    reason: request.reason.slice(0, shortText),
    requestedAt,
    deadline,
    digest,
    argumentNames: fitting(
      (request.argumentNames ?? Object.keys(request.arguments)).map((name) => name.slice(0, longestName)),
      1_000,
    ),
    argumentBytes: request.argumentBytes ?? argumentBytes(request.arguments),
    severity: request.assessment.severity,
    shown: showsAll(request) ? 'all' : 'part',
    ...(shownArguments !== undefined && { shownArguments, notShown }),
    ...(request.lineage.length > 0 && { lineage: request.lineage }),
  };
}

/** True if there is nothing more to see: all arguments are shown in full, or there are none. */
function showsAll({ arguments: args, shown, shownArguments, notShown = [] }: ApprovalRequest): boolean {
  if (shownArguments !== undefined) return notShown.length === 0;
  return shown === 'all' && Object.keys(args).length === 0;
}
