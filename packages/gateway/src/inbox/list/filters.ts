import { type OpenQuery, sorts, tabs, wholeQuery } from '../../http/inbox/open-view.ts';
import type { InboxRow } from '../../http/inbox/api.ts';
import { queryText, requestKey } from '../state/paths.ts';

const names = ['tab', 'tool', 'agent', 'severity', 'text', 'sort'] as const satisfies readonly (keyof OpenQuery)[];

/** Longer addresses are cut, because the time for reading an address grows with the square of its length. */
const longestAddress = 20_000;

/** Reads the filters from the query of an address, up to `longestAddress`. Unknown values count as absent. */
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

/** Writes filters as the query of an address; empty without filters. `GET /approvals/search` takes the same query. */
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

/** The selected rows by key, as they were when the user selected them. Later changes do not affect them. */
export type Selection = ReadonlyMap<string, InboxRow>;

/** Adds rows to a selection, or removes them if all of them are in it already. */
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

/** Groups the rows of a list. A run with `leastGrouped` rows or more becomes one group, where its first row was. */
export function groupsOf(rows: readonly InboxRow[]): RowGroup[] {
  const ofRun = Map.groupBy(rows, ({ workflowId }) => workflowId);
  return rows.flatMap((row) => {
    const { workflowId } = row;
    const all = ofRun.get(workflowId)!;
    if (all.length < leastGrouped) return [{ workflowId, rows: [row] }];
    return all[0] === row ? [{ workflowId, rows: all }] : [];
  });
}
