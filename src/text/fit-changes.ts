import { byteLength, shortened } from '../core/base/text.ts';
import type { Change } from '../core/base/call-preview.ts';

type Text = Extract<Change, { kind: 'text' }>;
type Table = Extract<Change, { kind: 'table' }>;

/** The part of a change that fits, and words for the rest that is omitted. */
interface Fitted {
  change?: Change;
  leftOut?: string;
}

/** How many equal lines are kept before and after changed lines. */
const contextLines = 3;
const maxChanges = 100;
/** The most changes whose omitted parts are named. Further changes are only counted. */
const maxNamed = 10;
const longestName = 100;

/**
 * Shortens changes to `maxBytes` of JSON. `cut` says in one sentence what is left out: equal lines around changed ones,
 * the last rows of a table, or a whole change. A changed line is never cut.
 */
export function fitChanges(all: readonly Change[], maxBytes: number): { changes: Change[]; cut?: string } {
  const changes: Change[] = [];
  const leftOut: string[] = [];
  let left = maxBytes;
  for (const [index, each] of all.entries()) {
    const fitted = index < maxChanges ? fit(each, left) : { leftOut: whole(each) };
    if (fitted.change !== undefined) {
      changes.push(fitted.change);
      left -= jsonBytes(fitted.change) + ','.length;
    }
    if (fitted.leftOut !== undefined) leftOut.push(fitted.leftOut);
  }
  if (leftOut.length === 0) return { changes };
  const more = leftOut.length > maxNamed ? [`${leftOut.length - maxNamed} more changes`] : [];
  const parts = [...leftOut.slice(0, maxNamed), ...more];
  return { changes, cut: `Not shown, because a preview has at most ${maxBytes} bytes: ${parts.join('; ')}.` };
}

function fit(change: Change, bytes: number): Fitted {
  if (jsonBytes(change) <= bytes) return { change };
  const fitted = change.kind === 'text' ? withoutEqualLines(change) : firstRows(change, bytes);
  return fitted?.change !== undefined && jsonBytes(fitted.change) <= bytes ? fitted : { leftOut: whole(change) };
}

/** The changed lines of a text, and a few around them; undefined if it is new or gone, or no line can be left out. */
function withoutEqualLines(change: Text): Fitted | undefined {
  if (change.before === null || change.after === null) return undefined;
  const before = change.before.split('\n');
  const after = change.after.split('\n');
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const first = Math.max(0, start - contextLines);
  const last = Math.max(0, end - contextLines);
  if (first + last === 0) return undefined;
  const between = (lines: string[]): string => lines.slice(first, lines.length - last).join('\n');
  return {
    change: { ...change, before: between(before), after: between(after) },
    leftOut: `${first} equal lines before and ${last} after the changed ones of ${quotedName(change)}`,
  };
}

/** The first rows of a table, as many as fit; undefined if the first row does not. */
function firstRows(change: Table, bytes: number): Fitted | undefined {
  let left = bytes - jsonBytes({ ...change, rows: [] });
  let fitting = 0;
  for (const row of change.rows) {
    left -= jsonBytes(row) + ','.length;
    if (left < 0) break;
    fitting += 1;
  }
  if (fitting === 0 || fitting === change.rows.length) return undefined;
  return {
    change: { ...change, rows: change.rows.slice(0, fitting) },
    leftOut: `the last ${change.rows.length - fitting} of ${change.rows.length} rows of ${quotedName(change)}`,
  };
}

function whole(change: Change): string {
  return `${quotedName(change)}, ${jsonBytes(change)} bytes`;
}

function quotedName({ name }: Change): string {
  return `'${shortened(name, longestName)}'`;
}

function jsonBytes(value: object): number {
  return byteLength(JSON.stringify(value));
}
