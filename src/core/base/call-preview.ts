import type { Json, JsonObject } from './tool-call.ts';
import type { BoundFacts } from './bound-preview.ts';
import { canonicalJsonProblem } from './canonical-json.ts';
import { isObject, kindOf } from './json.ts';
import { isWellFormed, shortened } from './text.ts';

/** What a waiting call would change, as the tool's own `preview` says. */
export type CallPreview =
  | { state: 'pending' }
  | { state: 'failed'; message: string }
  | {
      state: 'ready';
      changes: Change[];
      /** One sentence that says which changes were too large for the preview. It quotes their names. */
      cut?: string;
      /** The facts of the preview that an approval binds. Absent: the tool does not bind its preview. */
      bound?: BoundFacts;
    };

/** One thing that would change. `before: null`: the thing does not exist yet. `after: null`: it would be removed. */
export type Change =
  | { kind: 'text'; name: string; before: string | null; after: string | null }
  | {
      kind: 'table';
      name: string;
      columns: string[];
      rows: ChangedRow[];
    };

/** A row of a table before and after the call, with one value for each column. */
type ChangedRow = { before: Json[] | null; after: Json[] | null };

/** What a tool's `preview` returns: the changes alone, or with the facts that an approval binds. */
export type Previewed = readonly Change[] | { changes: readonly Change[]; facts: JsonObject };

type Read<T> = { value: T } | { problem: string };

/** Checks what a tool's `preview` returned. If that is no preview, returns a sentence with the wrong place. */
export function readPreviewed(value: unknown): { changes: Change[]; facts?: JsonObject } | { problem: string } {
  if (!isObject(value) || !Object.hasOwn(value, 'changes')) return readChanges(value);
  const { changes, facts, ...others } = value;
  const [other] = Object.keys(others);
  if (other !== undefined) return { problem: `expected { changes, facts }, without '${shortened(other, 40)}'` };
  const read = readChanges(changes);
  if ('problem' in read || facts === undefined) return read;
  if (!isObject(facts)) return { problem: `facts: expected an object, not ${kindOf(facts)}` };
  const problem = canonicalJsonProblem(facts);
  return problem === undefined ? { ...read, facts: facts as JsonObject } : { problem: `facts: ${problem}` };
}

/** Checks a list of changes and drops unknown members. If it is no list, returns a sentence with the place. */
export function readChanges(value: unknown): { changes: Change[] } | { problem: string } {
  if (!Array.isArray(value)) return { problem: `expected a list of changes, not ${kindOf(value)}` };
  const changes: Change[] = [];
  for (const [index, each] of value.entries()) {
    const read = readChange(`changes[${index}]`, each);
    if ('problem' in read) return read;
    changes.push(read.value);
  }
  return { changes };
}

/** Reads the change at `place`, a text or a table, or says in one sentence what is wrong with it. */
function readChange(place: string, change: unknown): Read<Change> {
  if (!isObject(change)) return { problem: `${place}: expected an object, not ${kindOf(change)}` };
  const { kind, name } = change;
  if (!isWellFormed(name)) return { problem: `${place}.name: expected text` };
  if (kind === 'text') return readText(place, name, change);
  if (kind === 'table') return readTable(place, name, change);
  return { problem: `${place}.kind: expected 'text' or 'table'` };
}

function readText(place: string, name: string, { before, after }: Record<string, unknown>): Read<Change> {
  for (const [member, text] of Object.entries({ before, after })) {
    if (text !== null && !isWellFormed(text)) return { problem: `${place}.${member}: expected text or null` };
  }
  if (before === null && after === null) return { problem: `${place}: before and after are both null` };
  return { value: { kind: 'text', name, before: before as string | null, after: after as string | null } };
}

/** Reads a change of a table, whose rows have one cell for each column, before and after the call. */
function readTable(place: string, name: string, { columns, rows }: Record<string, unknown>): Read<Change> {
  if (!Array.isArray(columns) || columns.length === 0 || !columns.every(isWellFormed)) {
    return { problem: `${place}.columns: expected a list of texts` };
  }
  if (!Array.isArray(rows)) return { problem: `${place}.rows: expected a list` };
  const changedRows: ChangedRow[] = [];
  for (const [index, row] of rows.entries()) {
    const read = readRow(`${place}.rows[${index}]`, row, columns.length);
    if ('problem' in read) return read;
    changedRows.push(read.value);
  }
  return { value: { kind: 'table', name, columns, rows: changedRows } };
}

/** Reads a row, whose `before` and `after` each have `columnCount` JSON values; one of the two may be null. */
function readRow(place: string, row: unknown, columnCount: number): Read<ChangedRow> {
  if (!isObject(row)) return { problem: `${place}: expected an object, not ${kindOf(row)}` };
  const { before, after } = row;
  for (const [member, cells] of Object.entries({ before, after })) {
    const problem = cells === null ? undefined : cellsProblem(cells, columnCount);
    if (problem !== undefined) return { problem: `${place}.${member}: ${problem}` };
  }
  if (before === null && after === null) return { problem: `${place}: before and after are both null` };
  return { value: { before: before as Json[] | null, after: after as Json[] | null } };
}

function cellsProblem(cells: unknown, count: number): string | undefined {
  if (!Array.isArray(cells) || cells.length !== count) return `expected null or ${count} values, one for each column`;
  return canonicalJsonProblem(cells);
}
