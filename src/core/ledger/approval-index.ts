/**
 * What the inbox finds without a worker: search attributes and memo. All lists are bounded, because the server ends a
 * run whose attribute value exceeds 2 KB (tested: 59 ids did).
 */
import type { ApprovalRequest } from './approval.ts';
import { byteLength, escapeUnseen, fitting, shortened } from '../base/text.ts';
import { cannotBeApproved } from '../people/cannot-be-approved.ts';
import { withDelegates, type Delegation } from '../people/delegation.ts';
import { allIdsOf, personOf } from '../people/directory.ts';
import { approversOf } from '../people/entitlement.ts';
import { redactSecrets } from '../redact/find-sensitive.ts';
import { argumentBytes } from './hidden-arguments.ts';
import type { JournalEntry, JournalHead } from './journal-entry.ts';
import type { Directories, Ledger, RequestRecord } from './ledger.ts';
import type { Severity } from '../base/tool-call.ts';
import { escalatedBy, type Escalated } from './escalation.ts';
import { lastPanelOf, panelOf, personKeyOfRun } from './panel.ts';
import { longestName } from './shown-arguments.ts';

/** The part of a request that the memo and lists show. It holds only the argument values that `show` names. */
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
  /** The tool's sentence without secrets. It may repeat any argument, so it is present only if all are shown. */
  sentence?: string;
  /**
   * The reviewers who are asked: names, `group:NAME`, or delegates instead of those who delegated. Empty: anyone.
   * Lists of people date from the last change of open requests, decide nothing, and are absent if they are too long.
   */
  reviewers?: string[];
  /** All ids of the people whose approval would count. Absent: that of anyone would, or the list is too long. */
  approvers?: string[];
  /** The escalation steps that have added reviewers so far, oldest first. */
  escalated?: Escalated[];
  /** Why no further votes can approve the request, shortened. */
  cannotBeApproved?: string;
  /** The name that the operator's directory gives to `callerUserId`. */
  callerName?: string;
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

export type RowPeople = Pick<
  ApprovalSummary,
  'reviewers' | 'approvers' | 'escalated' | 'cannotBeApproved' | 'callerName'
>;

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
  /** Commits the run to all its journal entries so far. Absent until its policies are known. */
  journalHead?: JournalHead;
}

const attributeBytes = 1_900;
const tagBytes = 128;
const settledTagged = 20;
/** The beginning of a settled request's tag. The id follows. */
export const settledTag = 'settled:';
const memoOpenBytes = 16_000;
const memoJournalBytes = 14_000;
const shortText = 200;
/** The most bytes of each list of people in a row. */
const peopleBytes = 800;
/** The most bytes of a sentence in a row: room for 300 characters of any script. */
const sentenceBytes = 1_000;

/** A run's search attributes: its open requests' ids, tags (long ones are left out), and their earliest deadline. */
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

/** The directories of a run's policies, and the time as of which a row shows who can decide. */
export interface People {
  directories: Directories;
  nowMs: number;
}

/** The memo, and the journal entries that did not fit and have to go into a later payload. */
export function approvalMemo(
  ledger: Ledger,
  entries: JournalEntry[],
  people: People,
): { memo: ApprovalMemo; rest: JournalEntry[] } {
  const rows = ledger.open.map((record) => ({ ...summaryOf(record.request), ...peopleOf(record, people) }));
  const open = openRows(rows);
  const journal = fitting(entries, memoJournalBytes);
  const more = ledger.open.length - open.length;
  return { memo: { open, journal, ...(more > 0 ? { more } : {}) }, rest: entries.slice(journal.length) };
}

/** As many short rows as fit. The bytes left over add the people of each row, and then the values of arguments. */
function openRows(rows: ApprovalSummary[]): ApprovalSummary[] {
  let open = fitting(rows.map(bareRow), memoOpenBytes);
  let bytesLeft = memoOpenBytes - byteLength(JSON.stringify(open));
  for (const partOf of [peopleIn, valuesIn]) {
    open = open.map((row, index) => {
      const fuller = { ...row, ...partOf(rows[index]!) };
      const addedBytes = byteLength(JSON.stringify(fuller)) - byteLength(JSON.stringify(row));
      if (addedBytes > bytesLeft) return row;
      bytesLeft -= addedBytes;
      return fuller;
    });
  }
  return open;
}

function bareRow(row: ApprovalSummary): ApprovalSummary {
  const { reviewers: _, approvers: __, cannotBeApproved: ___, callerName: ____, escalated: _____, ...unpeopled } = row;
  if (row.shownArguments === undefined) return unpeopled;
  const { shownArguments: ______, notShown: _______, sentence: ________, ...bare } = unpeopled;
  return { ...bare, shown: 'part' };
}

function peopleIn(row: ApprovalSummary): RowPeople {
  const { reviewers, approvers, cannotBeApproved: why, callerName, escalated } = row;
  return { reviewers, approvers, cannotBeApproved: why, callerName, ...(escalated !== undefined && { escalated }) };
}

function valuesIn({ shownArguments, notShown, sentence, shown }: ApprovalSummary): Partial<ApprovalSummary> {
  return shownArguments === undefined ? {} : { shownArguments, notShown, sentence, shown };
}

/** The members of a row about people: who is asked, who can approve at that time, and why no votes can. */
function peopleOf(record: RequestRecord, { directories, nowMs }: People): RowPeople {
  const { request, delegations, votes } = record;
  const { ceiling } = directories;
  const keyOf = personKeyOfRun(directories);
  const approvers = approversOf(panelOf(record, directories, nowMs), votes);
  const { callerUserId, reviewers } = request;
  return rowPeople({
    reviewers,
    delegations,
    approvers: approvers && allIdsOf(ceiling, approvers, keyOf),
    escalated: escalatedBy(record, nowMs),
    cannotBeApproved: cannotBeApproved(lastPanelOf(record, directories), votes),
    callerName: callerUserId === null ? undefined : personOf(ceiling, callerUserId, keyOf)?.name,
  });
}

/** The members about people that a row has room for. `approvers` holds all ids of each person. */
export function rowPeople(
  people: RowPeople & { reviewers: readonly string[]; delegations: readonly Delegation[] },
): RowPeople {
  const { reviewers, delegations, approvers, escalated = [], cannotBeApproved: why, callerName } = people;
  const hasRoom = (names: readonly unknown[]): boolean => byteLength(JSON.stringify(names)) <= peopleBytes;
  // Without reviewers anyone may answer, also after a delegation, so no delegate is named.
  const asked = reviewers.length === 0 ? [] : withDelegates(reviewers, delegations);
  return {
    ...(hasRoom(asked) && { reviewers: asked }),
    ...(approvers !== undefined && hasRoom(approvers) && { approvers }),
    ...(escalated.length > 0 && hasRoom(escalated) && { escalated }),
    ...(why !== undefined && { cannotBeApproved: shortened(why, shortText) }),
    ...(callerName !== undefined && { callerName: callerName.slice(0, shortText) }),
  };
}

/** The part of a request that the memo shows, with its texts shortened; without people, who depend on the time. */
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
    ...shownSentence(request),
    ...(shownArguments !== undefined && { shownArguments, notShown }),
    ...(request.lineage.length > 0 && { lineage: request.lineage }),
  };
}

/** The sentence, if the row shows all arguments: a sentence may repeat any argument, even a hidden one. */
function shownSentence(request: ApprovalRequest): Pick<ApprovalSummary, 'sentence'> {
  if (request.sentence === undefined || request.shownArguments === undefined || !showsAll(request)) return {};
  const sentence = escapeUnseen(redactSecrets(request.sentence));
  return byteLength(JSON.stringify(sentence)) <= sentenceBytes ? { sentence } : {};
}

/** True if the row shows all arguments in full, or there are none. */
function showsAll({ arguments: args, shown, shownArguments, notShown = [] }: ApprovalRequest): boolean {
  if (shownArguments !== undefined) return notShown.length === 0;
  return shown === 'all' && Object.keys(args).length === 0;
}
