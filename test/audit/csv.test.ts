import { expect, test } from 'vitest';
import type { AuditLine } from '../../src/audit/audit-line.ts';
import { csvRows } from '../../src/audit/csv.ts';
import { sampleExport } from '../support/audit-sample.ts';

/** Reads RFC 4180, as a spreadsheet does. */
function parseCsv(text: string): string[][] {
  const cells = [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/g)];
  const rows: string[][] = [[]];
  for (const [, quoted, bare, end] of cells) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? bare ?? '');
    if (end === '\n') rows.push([]);
    if (end === '') break;
  }
  return rows;
}

function tableOf(lines: readonly AuditLine[]): Record<string, string>[] {
  const rows = csvRows();
  const [header, ...body] = parseCsv([rows.header, ...lines.flatMap((line) => rows.take(line))].join('\n'));
  return body.map((row) => {
    expect(row).toHaveLength(header!.length);
    return Object.fromEntries(header!.map((name, index) => [name, row[index]!]));
  });
}

const sample = () => sampleExport().map((text) => JSON.parse(text) as AuditLine);

test('one row for each entry, with what ran', () => {
  const activity: AuditLine = {
    line: 'activity',
    run: 1,
    callId: '1.1',
    activity: 'pay',
    runId: 'r',
    scheduledEventId: 11,
    scheduledAt: '2030-01-31T12:00:01.000Z',
    state: 'completed',
  };
  const table = tableOf(sample().toSpliced(3, 0, activity));
  expect(table).toHaveLength(12);
  expect(table[2]).toMatchObject({
    workflowId: 'alice',
    seq: '3',
    kind: 'settled',
    outcome: 'approved',
    reviewer: 'bob',
  });
  expect(table.slice(0, 6).map((row) => row['activityState'])).toEqual(['', '', 'completed', 'completed', '', '']);
  expect(table.slice(6).every((row) => row['activityState'] === '')).toBe(true);
});

test.each([
  ['=HYPERLINK("http://x")', `'=HYPERLINK("http://x")`],
  ['+1', `'+1`],
  ['-1', `'-1`],
  ['@sum', `'@sum`],
  ['\tx', `'\tx`],
  ['a,b "c"\nd', 'a,b "c"\nd'],
])('a reason that begins like a formula is text: %j', (reason, cell) => {
  const lines = sample();
  const line = lines.find((each) => each.line === 'entry')!;
  Object.assign(line.entry, { reason });
  expect(tableOf(lines)[0]).toMatchObject({ reason: cell });
});

test('what is withheld is named', () => {
  const lines = sampleExport({ withheld: ['reviewerId', 'reason'] }).map((text) => JSON.parse(text) as AuditLine);
  expect(tableOf(lines)[0]).toMatchObject({ reason: '', withheld: 'reason' });
});
