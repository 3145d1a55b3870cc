import { describe, expect, test } from 'vitest';
import type { AuditLine } from '../../src/audit/audit-line.ts';
import { csvRows } from '../../src/audit/csv.ts';
import { sampleExport } from './audit-sample.ts';

/** Reads RFC 4180 as Excel and LibreOffice do: only a cell that begins with a quote is quoted, and a quote doubled in it. */
function parseCsv(text: string, separator: string): string[][] {
  const rows: string[][] = [[]];
  for (let at = 0; at <= text.length; at += 1) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; at < text.length && (text[at] !== '"' || text[at + 1] === '"'); at += 1) {
        if (text[at] === '"') at += 1;
        cell += text[at];
      }
      at += 1;
    }
    for (; at < text.length && text[at] !== separator && text[at] !== '\n'; at += 1) cell += text[at];
    rows.at(-1)!.push(cell);
    if (text[at] === '\n') rows.push([]);
  }
  return rows;
}

/** The cells as a reader without any notion of quotes sees them. */
function splitCsv(text: string): string[] {
  return text.split(/[,;\t\r\n]/).map((cell) => cell.replace(/^"+|"+$/g, ''));
}

/** What docs/audit.md says of reading the cells by a program. */
const textOf = (cell: string): string => cell.replace(/(^|[,;\t\n"])'/g, '$1');

function fileOf(lines: readonly AuditLine[], separator: ',' | ';' = ','): string {
  const rows = csvRows(separator);
  return [rows.header, ...lines.flatMap((line) => rows.take(line))].join('\n');
}

function tableOf(lines: readonly AuditLine[], separator: ',' | ';' = ','): Record<string, string>[] {
  const [header, ...body] = parseCsv(fileOf(lines, separator), separator);
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

function withReason(reason: string): AuditLine[] {
  const lines = sample();
  Object.assign(lines.find((each) => each.line === 'entry')!.entry, { reason });
  return lines;
}

/** A text, and its cell in a spreadsheet. */
const texts: readonly (readonly [text: string, cell: string])[] = [
  // Formulas.
  ['=HYPERLINK("http://x")', `'=HYPERLINK("http://x")`],
  ['+1', `'+1`],
  ['-1+cmd|x', `'-1+cmd|x`],
  ['@sum', `'@sum`],
  ['＝1+1', `'＝1+1`],
  ['\tx', `'\tx`],
  ['\r=1', `'\n'=1`],
  ['  =1', `'  =1`],
  ['\u{200B}=1', `'\u{200B}=1`],
  // Behind what another reader takes for the begin of a cell.
  ['x;=1+1', `x;'=1+1`],
  ['x,=1+1', `x,'=1+1`],
  ['x\t=1+1', `x\t'=1+1`],
  ['x\n=1+1', `x\n'=1+1`],
  ['x\r\n=1+1', `x\n'=1+1`],
  ['x"=1+1', `x"'=1+1`],
  ['"=1+1"', `"'=1+1"`],
  ['x; "=1+1"', `x; "'=1+1"`],
  ['x, -1', `x,' -1`],
  ["'=1", "''=1"],
  ["x,'=1", "x,''=1"],
  // Numbers and dates, in any language.
  ['12345678901234567890', `'12345678901234567890`],
  ['00000000000000000000000000012e45', `'00000000000000000000000000012e45`],
  ['007', `'007`],
  ['1.10', `'1.10`],
  ['1.234,56', `'1.234,56`],
  ["1'234.56", `'1'234.56`],
  ['٣٤', `'٣٤`],
  ['1 000', `'1 000`],
  ['50 %', `'50 %`],
  ['€5', `'€5`],
  ['3/4', `'3/4`],
  ['12:30', `'12:30`],
  ['2030-01-31', `'2030-01-31`],
  ['5 mar', `'5 mar`],
  ['SEPT2', `'SEPT2`],
  ['1-Jan-2024', `'1-Jan-2024`],
  // Plain texts, which stay.
  ['a,b "c"\nd', 'a,b "c"\nd'],
  ['a\r\nb\rc', 'a\nb\nc'],
  ['Grüße, 你好', 'Grüße, 你好'],
  ["it's 5 o'clock", "it's 5 o'clock"],
  ['a-b = c', 'a-b = c'],
  ['9ed4ebe84ad04165', '9ed4ebe84ad04165'],
  ['2030-01-31T12:00:00.000Z', '2030-01-31T12:00:00.000Z'],
  ['', ''],
];

describe.each([',', ';'] as const)('a table with %j', (separator) => {
  test.each(texts)('the text %j is one cell, and the same text', (reason, cell) => {
    const table = tableOf(withReason(reason), separator);
    expect(table).toHaveLength(12);
    expect(table[0]).toMatchObject({ reason: cell, kind: 'opened', workflowId: 'alice' });
    expect(textOf(cell)).toBe(reason.replace(/\r\n?/g, '\n'));
  });

  test.each(texts)('the text %j is no formula, whatever separator the reader takes', (reason) => {
    const file = fileOf(withReason(reason), separator);
    const cells = [',', ';', '\t'].flatMap((other) => parseCsv(file, other).flat());
    const formulas = [...cells, ...splitCsv(file)].filter((each) => /^[\p{Cc}\p{Cf}\s]*[=+\-@＝＋－＠]/u.test(each));
    expect(formulas).toEqual([]);
  });
});

test('ids are texts, and counts are numbers', () => {
  const lines = sample();
  const entry = lines.find((each) => each.line === 'entry')!.entry;
  Object.assign(entry, { callId: '1.10', decisionId: '12345678901234567890', requestId: '1e2' });
  expect(tableOf(lines)[0]).toMatchObject({
    seq: '1',
    callId: `'1.10`,
    decisionId: `'12345678901234567890`,
    requestId: `'1e2`,
  });
  // A number that came from elsewhere, with a mark or with more digits than a spreadsheet keeps.
  Object.assign(entry, { engine: 1.5, deadline: Number('12345678901234567890') });
  expect(tableOf(lines)[0]).toMatchObject({ engine: `'1.5`, deadline: `'12345678901234567000` });
});

test('what is withheld is named', () => {
  const lines = sampleExport({ withheld: ['reviewerId', 'reason'] }).map((text) => JSON.parse(text) as AuditLine);
  expect(tableOf(lines)[0]).toMatchObject({ reason: '', withheld: 'reason' });
});
