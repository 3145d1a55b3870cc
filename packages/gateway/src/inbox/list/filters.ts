import { type OpenQuery, sorts, tabs, wholeQuery } from '../../http/inbox/open-view.ts';
import type { InboxRow } from '../../http/inbox/api.ts';
import { queryText, requestKey } from '../state/paths.ts';

const names = ['tab', 'tool', 'agent', 'severity', 'text', 'sort'] as const satisfies readonly (keyof OpenQuery)[];

/** In characters. Reading the parameters of a longer address costs the square of its length. */
const longestAddress = 20_000;

/** Reads the query of an address, up to its 20,000th character. What is unknown there counts as absent. */
export function readQuery(address: string): OpenQuery {
  const given = new URLSearchParams(address.slice(0, longestAddress));
  const textOf = (name: keyof OpenQuery): string => given.get(name) ?? '';
  const tab = tabs.find((each) => each === textOf('tab'));
  return {
    ...(tab !== undefined && { tab }),
    tool: textOf('tool'),
    agent: textOf('agent'),
    severity: textOf('severity'),
    text: textOf('text'),
    sort: sorts.find((each) => each === textOf('sort')) ?? wholeQuery.sort,
  };
}

/** Writes the query of an address; empty if it is the usual one. The gateway's search reads it, too. */
export function writeQuery(query: OpenQuery): string {
  const written = new URLSearchParams();
  for (const name of names) {
    const value = query[name] ?? '';
    if (value !== (wholeQuery[name] ?? '')) written.set(name, value);
  }
  return queryText(written);
}

export function isFiltered({ tool, agent, severity, text }: OpenQuery): boolean {
  return [tool, agent, severity, text].some((each) => each !== '');
}

/** The selected rows, as they were when they were selected: one that changes or goes stays as it was. */
export type Selection = ReadonlyMap<string, InboxRow>;

/** The selection with these rows; without them, if all of them were in it. */
export function toggled(selection: Selection, rows: readonly InboxRow[]): Selection {
  const next = new Map(selection);
  const areAllIn = rows.every((row) => selection.has(requestKey(row)));
  for (const row of rows) {
    if (areAllIn) next.delete(requestKey(row));
    else if (!next.has(requestKey(row))) next.set(requestKey(row), row);
  }
  return next;
}

export interface RowGroup {
  workflowId: string;
  rows: readonly InboxRow[];
}

const leastGrouped = 3;

/** The rows of a list; in the place of the first of many of one run, all of them as a group. */
export function groupsOf(rows: readonly InboxRow[]): RowGroup[] {
  const ofRun = Map.groupBy(rows, ({ workflowId }) => workflowId);
  return rows.flatMap((row) => {
    const { workflowId } = row;
    const all = ofRun.get(workflowId)!;
    if (all.length < leastGrouped) return [{ workflowId, rows: [row] }];
    return all[0] === row ? [{ workflowId, rows: all }] : [];
  });
}
