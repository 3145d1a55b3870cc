import { describe, expect, test } from 'vitest';
import { timerSummary } from '../../../src/workflows/timing/deadlines.ts';
import { requestIdOf, requestRecord } from '../../support/record-request.ts';

const shown = { shownArguments: { to: 'ann', amount: '5' }, notShown: [] };
const id = requestIdOf(7).slice(0, 8);

test('one request: the call, its deadline, and how to answer', () => {
  const record = requestRecord(7, 60_000, { arguments: { to: 'ann', amount: 5, note: 'x' }, ...shown });
  expect(timerSummary([record])).toBe(
    `pay(to: ann, amount: 5, note) · until 1970-01-01 00:01 UTC · countersign approve ${id}`,
  );
});

test('one that shows nothing: the names', () => {
  expect(timerSummary([requestRecord(7)])).toBe(`pay(to, amount) · no deadline · countersign approve ${id}`);
});

test('several: the first deadline, and the command that lists them', () => {
  const records = [requestRecord(1), requestRecord(2, 120_000), requestRecord(3, 60_000, shown)];
  expect(timerSummary(records)).toBe(
    'pay(to: ann, amount: 5) and 2 more · until 1970-01-01 00:01 UTC · countersign approvals',
  );
});

test('nothing open', () => expect(timerSummary([])).toBe(''));

describe('the call is cut, so that the rest stays readable and the server takes it', () => {
  test.each([
    ['long text', 'x'.repeat(1_000)],
    ['letters of three bytes', '漢'.repeat(200)],
    ['pairs of surrogates', '😀'.repeat(200)],
    ['quotes, which JSON escapes', '"'.repeat(200)],
    ['backslashes', '\\'.repeat(200)],
  ])('%s', (_name, to) => {
    const summary = timerSummary([requestRecord(7, 60_000, { shownArguments: { to }, notShown: [] })]);
    expect(summary).toMatch(/^pay\(to: .+… · until 1970-01-01 00:01 UTC · countersign approve \w{8}$/u);
    expect(summary.isWellFormed()).toBe(true);
    expect(summary.length).toBeLessThanOrEqual(135);
    // Ciphers and base64 add a third and a header; the server's limit is 400.
    expect(Buffer.byteLength(JSON.stringify(summary))).toBeLessThanOrEqual(210);
  });
});
