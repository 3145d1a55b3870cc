/** Filters, sorts and counts open requests. The gateway uses this, and so does a page that has all open requests. */
import { looksLike, nfc, severities, shownPerson } from 'countersign/base';
import type { InboxRow, OpenView, Tab, WaitsFor } from './api.ts';

export const tabs = ['mine', 'anyone', 'others'] as const satisfies readonly Tab[];

/** The orders of a list. `urgency`: requests that end soon, then the most severe. `age`: the oldest first. */
export const sorts = ['urgency', 'severity', 'age'] as const;
export type Sort = (typeof sorts)[number];

/** The filters and the order of a list of open requests. An empty string matches everything. */
export interface OpenQuery {
  /** The tab to list. Absent: the first tab that has requests. */
  tab?: Tab;
  tool: string;
  agent: string;
  severity: string;
  /** Words that must all occur. Capitals and look-alike letters make no difference. */
  text: string;
  sort: Sort;
}

export const wholeQuery: OpenQuery = { tool: '', agent: '', severity: '', text: '', sort: 'urgency' };

export type SharedRow = Omit<InboxRow, 'waitsFor'>;

interface ViewOptions<Row> {
  waitsFor: (row: Row) => WaitsFor;
  limit: number;
  nowMs: number;
}

/** Filters, sorts and counts rows. Rows of the same rank keep their order in `all`. */
export function openView<Row extends SharedRow>(
  all: readonly Row[],
  query: OpenQuery,
  { waitsFor, limit, nowMs }: ViewOptions<Row>,
): OpenView {
  const counts: Record<Tab, number> = { mine: 0, anyone: 0, others: 0 };
  const rowsOfTab: Record<Tab, InboxRow[]> = { mine: [], anyone: [], others: [] };
  const names = { tools: new Set<string>(), agents: new Set<string>() };
  const words = searchWords(query.text);
  const unsearched: Record<Tab, number> = { mine: 0, anyone: 0, others: 0 };
  for (const row of all) {
    const waits = waitsFor(row);
    const tab = tabOf[waits];
    counts[tab] += 1;
    names.tools.add(row.toolName);
    names.agents.add(row.agentName);
    if (!hasFacts(row, query)) continue;
    if (hasWords(row, words)) rowsOfTab[tab].push({ ...row, waitsFor: waits });
    else if (row.shown === 'part') unsearched[tab] += 1;
  }
  const tab = query.tab ?? tabs.find((each) => counts[each] > 0) ?? tabs[0];
  const found = rowsOfTab[tab].toSorted(orders[query.sort](nowMs));
  return {
    tab,
    rows: found.slice(0, limit),
    matching: found.length,
    unsearched: unsearched[tab],
    counts,
    tools: [...names.tools].sort(),
    agents: [...names.agents].sort(),
  };
}

const tabOf: Readonly<Record<WaitsFor, Tab>> = { you: 'mine', anyone: 'anyone', unknown: 'anyone', others: 'others' };

function hasFacts(row: SharedRow, { tool, agent, severity }: OpenQuery): boolean {
  return (
    (tool === '' || row.toolName === tool) &&
    (agent === '' || row.agentName === agent) &&
    (severity === '' || row.severity === severity)
  );
}

/** The words of a text. `looksLike` replaces look-alike letters, so that a search finds words that contain them. */
export function searchWords(text: string): string[] {
  return looksLike(nfc(text))
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** The searchable texts of a row. A word matches anywhere in `text`, but only at the beginning of an id. */
interface Searched {
  text: string;
  ids: string[];
}

/** Caches the searchable texts of each row, because making them is slow. */
const searched = new WeakMap<SharedRow, Searched>();

/** True if each word occurs in the text of a row, or begins one of its ids. */
function hasWords(row: SharedRow, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  let known = searched.get(row);
  if (known === undefined) {
    known = searchedOf(row);
    searched.set(row, known);
  }
  const { text, ids } = known;
  return words.every((word) => text.includes(word) || ids.some((id) => id.startsWith(word)));
}

function searchedOf(row: SharedRow): Searched {
  const caller = row.callerUserId === null ? '' : shownPerson(row.callerUserId, row.callerName);
  const names = [row.sentence, row.toolName, row.agentName, caller, row.reason];
  const text = [...names, ...Object.values(row.shownArguments ?? {})].join('\n');
  return { text: looksLike(nfc(text)), ids: [row.requestId, row.workflowId].map(looksLike) };
}

type Order = (one: SharedRow, other: SharedRow) => number;

const byDeadline: Order = (one, other) =>
  dueMs(one) - dueMs(other) || byText(one.requestedAt, other.requestedAt) || byText(one.workflowId, other.workflowId);
const bySeverity: Order = (one, other) => rankOf(one) - rankOf(other) || byDeadline(one, other);

const orders: Readonly<Record<Sort, (nowMs: number) => Order>> = {
  urgency: (nowMs) => (one, other) => {
    const [isOneUrgent, isOtherUrgent] = [one, other].map((row) => isUrgent(row.requestedAt, row.deadline, nowMs));
    if (isOneUrgent !== isOtherUrgent) return isOneUrgent === true ? -1 : 1;
    return isOneUrgent === true ? byDeadline(one, other) : bySeverity(one, other);
  },
  severity: () => bySeverity,
  age: () => (one, other) => byText(one.requestedAt, other.requestedAt) || byDeadline(one, other),
};

/** Orders rows by deadline, the earliest first. Rows without a deadline come last. */
export const inboxOrder: Order = byDeadline;

function rankOf({ severity }: SharedRow): number {
  return -severities.indexOf(severity);
}

function dueMs({ deadline }: SharedRow): number {
  return deadline === null ? Number.MAX_VALUE : Date.parse(deadline) || Number.MAX_VALUE;
}

function byText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

const minuteMs = 60_000;

/** True if less than an hour is left to the deadline, and also less than two minutes or a tenth of the whole time. */
export function isUrgent(requestedAt: string, deadline: string | null, nowMs: number): boolean {
  if (deadline === null) return false;
  const [fromMs, toMs] = [Date.parse(requestedAt), Date.parse(deadline)];
  const leftMs = toMs - nowMs;
  return leftMs < 60 * minuteMs && (leftMs < 2 * minuteMs || leftMs < (toMs - fromMs) / 10);
}
