import type { Change } from '../core/base/call-preview.ts';
import type { Json } from '../core/base/tool-call.ts';
import { countedNoun, cutInline, grouped } from './cut-text.ts';

type Rows = (Change & { kind: 'table' })['rows'];

const mostDecimals = 6;

/** How many rows change, and the sums of the columns that hold only numbers: of all rows, shown or not. */
export function tableTotals(columns: readonly string[], rows: Rows): string[] {
  const of = (count: number, what: string): string[] => (count === 0 ? [] : [`${countedNoun(count, 'row')} ${what}`]);
  const added = rows.filter(({ before }) => before === null).length;
  const removed = rows.filter(({ before, after }) => before !== null && after === null).length;
  const same = rows.filter(
    ({ before, after }) => before !== null && after !== null && JSON.stringify(before) === JSON.stringify(after),
  ).length;
  const changed = rows.length - added - removed - same;
  const counts = [
    ...of(added, 'added'),
    ...of(changed, 'changed'),
    ...of(removed, 'removed'),
    ...of(same, 'as before'),
  ];
  const sums = columns.flatMap((column, index) => {
    const [before, after] = [sumOf(rows, 'before', index), sumOf(rows, 'after', index)];
    if (before === undefined || after === undefined || rows.length < 2) return [];
    const change = before === after ? after : `${before} → ${after}`;
    return [`${cutInline(column, 60)} in total: ${change}`];
  });
  return [...counts, ...sums];
}

/** Undefined if a cell holds no number that can be summed exactly. */
function sumOf(rows: Rows, side: 'before' | 'after', index: number): string | undefined {
  const values = rows.flatMap((row): (Json | undefined)[] => (row[side] === null ? [] : [row[side][index]]));
  let sum = 0n;
  for (const value of values) {
    const digits = typeof value === 'number' ? /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(value)) : null;
    const decimals = digits?.[3] ?? '';
    if (digits === null || decimals.length > mostDecimals) return undefined;
    const scaled = BigInt(`${digits[2]}${decimals.padEnd(mostDecimals, '0')}`);
    sum += digits[1] === '-' ? -scaled : scaled;
  }
  const text = String(sum < 0n ? -sum : sum).padStart(mostDecimals + 1, '0');
  const decimals = text.slice(-mostDecimals).replace(/0+$/, '');
  const whole = grouped(text.slice(0, -mostDecimals));
  return `${sum < 0n ? '-' : ''}${whole}${decimals === '' ? '' : `.${decimals}`}`;
}
