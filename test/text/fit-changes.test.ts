import { describe, expect, test } from 'vitest';
import * as fc from 'fast-check';
import type { Change } from '../../src/core/base/call-preview.ts';
import { fitChanges } from '../../src/text/fit-changes.ts';

const most = 2_000;
const intro = 'Not shown, because a preview has at most 2000 bytes: ';
const text = (name: string, before: string | null, after: string | null): Change => ({
  kind: 'text',
  name,
  before,
  after,
});
const lines = (count: number, name = 'line'): string[] => Array.from({ length: count }, (_, each) => `${name} ${each}`);
const table = (rows: number): Change => ({
  kind: 'table',
  name: 'users',
  columns: ['id'],
  rows: lines(rows).map((line) => ({ before: null, after: [line] })),
});

test('changes that fit are whole, and nothing is said', () => {
  const changes = [text('a', 'x', 'y'), table(3)];
  expect(fitChanges(changes, most)).toEqual({ changes });
  expect(fitChanges([], most)).toEqual({ changes: [] });
});

describe('a text that does not fit', () => {
  test('loses equal lines around the changed ones, and never a changed line', () => {
    const before = lines(600);
    const after = before.with(300, 'changed').toSpliced(301, 0, 'added');
    expect(fitChanges([text('big', before.join('\n'), after.join('\n'))], most)).toEqual({
      changes: [text('big', before.slice(297, 304).join('\n'), after.slice(297, 305).join('\n'))],
      cut: `${intro}297 equal lines before and 296 after the changed ones of 'big'.`,
    });
  });

  test('lines that are only added keep what is around them', () => {
    const before = lines(400);
    const { changes, cut } = fitChanges([text('big', before.join('\n'), [...before, 'more'].join('\n'))], most);
    expect(changes).toEqual([text('big', before.slice(397).join('\n'), [...before.slice(397), 'more'].join('\n'))]);
    expect(cut).toBe(`${intro}397 equal lines before and 0 after the changed ones of 'big'.`);
  });

  test.each<[string, string | null, string | null]>([
    ['too much has changed', lines(300).join('\n'), lines(300, 'other').join('\n')],
    ['it is new', null, lines(300).join('\n')],
    ['it is removed', lines(300).join('\n'), null],
    ['it has one line', 'a'.repeat(3_000), 'b'],
  ])('is left out whole if %s', (_, before, after) => {
    const change = text('big', before, after);
    const bytes = Buffer.byteLength(JSON.stringify(change));
    expect(fitChanges([change, text('small', 'a', 'b')], most)).toEqual({
      changes: [text('small', 'a', 'b')],
      cut: `${intro}'big', ${bytes} bytes.`,
    });
  });
});

test('a table keeps its first rows', () => {
  const { changes, cut } = fitChanges([table(500)], most);
  const [kept] = changes as Extract<Change, { kind: 'table' }>[];
  const { rows } = table(500) as Extract<Change, { kind: 'table' }>;
  expect(kept).toEqual({ ...table(0), rows: rows.slice(0, kept!.rows.length) });
  expect(kept!.rows.length).toBeGreaterThan(40);
  expect(cut).toBe(`${intro}the last ${500 - kept!.rows.length} of 500 rows of 'users'.`);
});

test('a table of which no row fits is left out', () => {
  const change: Change = {
    kind: 'table',
    name: 'wide',
    columns: ['a'],
    rows: [{ before: null, after: ['x'.repeat(3_000)] }],
  };
  expect(fitChanges([change], most)).toMatchObject({ changes: [], cut: expect.stringContaining(`'wide', `) });
});

test('names what is left out, and counts the rest', () => {
  const many = lines(130).map((name) => text(`${name} ${'n'.repeat(200)}`, null, ''));
  const { changes, cut } = fitChanges(many, 10_000_000);
  expect(changes).toHaveLength(100);
  expect(cut).toContain(`'line 100 nnnn`);
  expect(cut).toContain(`'line 109 nnnn`);
  expect(cut).not.toContain('line 110');
  expect(cut!.endsWith('; 20 more changes.')).toBe(true);
  expect(cut!.length).toBeLessThan(2_000);
});

test('any changes: what is kept fits, and something is said if not all is', () => {
  const line = fc.constantFrom('a', 'b', 'é'.repeat(50), '', 'line');
  const content = fc.array(line, { maxLength: 60 }).map((each) => each.join('\n'));
  const change = fc.oneof(
    fc.tuple(content, content).map(([before, after]) => text('t', before, after)),
    fc.integer({ min: 0, max: 80 }).map(table),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 8 }), (all) => {
      const { changes, cut } = fitChanges(all, most);
      expect(Buffer.byteLength(JSON.stringify(changes))).toBeLessThanOrEqual(most + 2);
      expect(cut === undefined).toBe(JSON.stringify(changes) === JSON.stringify(all));
    }),
  );
});
