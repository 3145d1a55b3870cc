import { shownPerson } from 'countersign/base';
import type { InboxRow, WaitsFor } from '../../http/inbox/api.ts';
import { requestKey } from '../state/paths.ts';

/** Which open requests are shown. An empty text shows all. */
export interface Filters {
  tool: string;
  agent: string;
  severity: string;
  /** `me`: also what waits for anybody. */
  waits: '' | 'me' | 'others';
  text: string;
}

export const noFilters: Filters = { tool: '', agent: '', severity: '', waits: '', text: '' };

const names = Object.keys(noFilters) as (keyof Filters)[];

/** Reads the filters of an address. */
export function readFilters(query: string): Filters {
  const given = new URLSearchParams(query);
  const filters = { ...noFilters };
  for (const name of names) {
    const value = given.get(name) ?? '';
    if (name !== 'waits') filters[name] = value;
    else if (value === 'me' || value === 'others') filters.waits = value;
  }
  return filters;
}

/** Writes the query of an address; empty if nothing is filtered. */
export function writeFilters(filters: Filters): string {
  const query = new URLSearchParams();
  for (const name of names) if (filters[name] !== '') query.set(name, filters[name]);
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

const waitsForMe: readonly WaitsFor[] = ['you', 'anyone', 'unknown'];

/** True if the filters admit a row. */
export function admits({ tool, agent, severity, waits, text }: Filters, row: InboxRow): boolean {
  if (tool !== '' && row.toolName !== tool) return false;
  if (agent !== '' && row.agentName !== agent) return false;
  if (severity !== '' && row.severity !== severity) return false;
  if (waits === 'me' && !waitsForMe.includes(row.waitsFor)) return false;
  if (waits === 'others' && row.waitsFor !== 'others') return false;
  return text === '' || searched(row).includes(text.toLowerCase());
}

function searched(row: InboxRow): string {
  const texts = [
    row.sentence,
    row.toolName,
    row.agentName,
    row.callerUserId === null ? '' : shownPerson(row.callerUserId, row.callerName),
    row.reason,
    row.requestId,
    row.workflowId,
    ...Object.values(row.shownArguments ?? {}),
  ];
  return texts
    .map((each) => each ?? '')
    .join('\n')
    .toLowerCase();
}

/** The values of a column, each once, in order. */
export function valuesOf(rows: readonly InboxRow[], column: 'toolName' | 'agentName' | 'severity'): string[] {
  return [...new Set(rows.map((row) => row[column]))].sort();
}

/**
 * The rows that are selected, as they were when they were selected: rows that come later never join, and one that changes
 * or goes stays as it was.
 */
export type Selection = ReadonlyMap<string, InboxRow>;

export function toggled(selection: Selection, row: InboxRow): Selection {
  const next = new Map(selection);
  if (!next.delete(requestKey(row))) next.set(requestKey(row), row);
  return next;
}

export function selectionOf(rows: readonly InboxRow[]): Selection {
  return new Map(rows.map((row) => [requestKey(row), row]));
}
