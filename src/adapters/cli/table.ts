import Table from 'cli-table3';
import type { Output } from './output.ts';

const noBorders = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
} as const;

/** Columns under a header row, without borders. The caller escapes the cells. */
export function renderTable(output: Output, head: string[], rows: string[][]): string {
  const table = new Table({
    head: head.map((title) => output.style('bold', title)),
    chars: noBorders,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows);
  return trimLines(table.toString());
}

/** Names and values, one pair per line. The caller escapes the values. */
export function renderFields(output: Output, fields: [name: string, value: string | undefined][]): string {
  const shown = fields.filter((field): field is [string, string] => field[1] !== undefined && field[1] !== '');
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${output.style('dim', name.padEnd(width))}  ${value}`).join('\n');
}

function trimLines(text: string): string {
  return text.replace(/ +$/gm, '');
}
