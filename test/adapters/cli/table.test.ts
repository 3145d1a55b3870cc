import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { pad, truncate, wrap } from '../../../packages/cli/src/base/fit-text.ts';
import { renderFields, renderTable } from '../../../packages/cli/src/base/table.ts';
import { growth, squareGrowth } from '../../support/processor-time.ts';
import { terminal } from './support.ts';

describe('truncate', () => {
  test.each<[string, number, string]>([
    ['refund', 6, 'refund'],
    ['refund', 5, 'refu…'],
    ['one two three', 13, 'one two three'],
    ['one two three', 10, 'one two…'],
    ['one two three', 8, 'one two…'],
    ['one two three', 6, 'one…'],
    ['a twosome', 6, 'a two…'],
    ['alpha be gamma', 9, 'alpha be…'],
    ['a reallyLongWord', 10, 'a reallyL…'],
    ['日本語テキスト', 6, '日本…'],
    ['日本語テキスト', 7, '日本語…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
    ['👍🏽👍🏽', 3, '👍🏽…'],
    ['abc', 1, '…'],
  ])('%j in %i columns: %j', (text, columns, cut) => {
    expect(truncate(text, columns)).toBe(cut);
  });
});

describe('wrap', () => {
  test.each<[string, number, string[]]>([
    ['one two three', 8, ['one two', 'three']],
    ['one two three', 7, ['one two', 'three']],
    ['one two three', 3, ['one', 'two', 'three']],
    ['日本 語テ キスト', 9, ['日本 語テ', 'キスト']],
    ['', 8, ['']],
  ])('%j in %i columns', (text, columns, lines) => {
    expect(wrap(text, columns)).toEqual(lines);
  });

  test('no word is broken or lost, and only a word alone is too wide', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-zé語]{1,12}$/u)),
        fc.integer({ min: 1, max: 30 }),
        (words, columns) => {
          const lines = wrap(words.join(' '), columns);
          expect(lines.join(' ')).toBe(words.join(' '));
          for (const line of lines) if (line.includes(' ')) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
        },
      ),
    );
  });
});

test('pad: by columns, not by characters', () => {
  expect([pad('日本', 6), pad('e\u0301', 2), pad('wide', 2)]).toEqual(['日本  ', 'e\u0301 ', 'wide']);
});

describe('renderTable', () => {
  const head = ['ID', 'ARGUMENTS', 'RUN'];
  const rows = [
    ['4f0c9a1e', 'customer, order, amount, reason', 'ticket-8'],
    ['81aa07c2', '数量', 'ticket-12'],
  ];
  const render = (width: number): string[] =>
    renderTable(terminal(width), head, rows, { whole: ['ID', 'RUN'] }).split('\n');

  test.each<[number, string[]]>([
    [
      80,
      [
        'ID        ARGUMENTS                        RUN',
        '4f0c9a1e  customer, order, amount, reason  ticket-8',
        '81aa07c2  数量                             ticket-12',
      ],
    ],
    [
      40,
      [
        'ID        ARGUMENTS            RUN',
        '4f0c9a1e  customer, order,…    ticket-8',
        '81aa07c2  数量                 ticket-12',
      ],
    ],
    [29, ['ID        ARGUMEN…  RUN', '4f0c9a1e  custome…  ticket-8', '81aa07c2  数量      ticket-12']],
    [20, ['ID      ARG…  RUN', '4f0c9…  cus…  ticke…', '81aa0…  数量  ticke…']],
  ])('%i columns', (width, lines) => {
    expect(render(width)).toEqual(lines);
  });

  test('a wrapped column continues on the next line', () => {
    const why = [['run#1', 'deny', 'the pattern matches nothing of it']];
    expect(renderTable(terminal(30), ['RULE', 'ACTION', 'WHY'], why, { wrapped: ['WHY'] }).split('\n')).toEqual([
      'RULE   ACTION  WHY',
      'run#1  deny    the pattern',
      '               matches nothing',
      '               of it',
    ]);
  });

  test('no line is wider than the terminal, and what is cut says so', () => {
    const cell = fc.stringMatching(/^[a-z 語]{0,40}$/u);
    const row = fc.tuple(cell, cell, cell);
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), fc.integer({ min: 16, max: 120 }), (cells, width) => {
        const [, ...lines] = renderTable(terminal(width), head, cells, { whole: ['ID'] }).split('\n');
        for (const [index, line] of lines.entries()) {
          expect(stringWidth(line)).toBeLessThanOrEqual(width);
          const isWhole = cells[index]!.every((text) => line.includes(text.trim()));
          expect(isWhole || line.includes('…')).toBe(true);
        }
      }),
    );
  });
});

test('renderFields: values break between words, and continue below themselves', () => {
  const fields: [string, string][] = [
    ['tool', 'refund'],
    ['severity', 'Money leaves the house and does not come back\nSecond reason'],
    ['digest', 'd'.repeat(40)],
  ];
  expect(renderFields(terminal(36), fields).split('\n')).toEqual([
    'tool      refund',
    'severity  Money leaves the house and',
    '          does not come back',
    '          Second reason',
    `digest    ${'d'.repeat(40)}`,
  ]);
});

test('a table may have more rows than a call has parameters', () => {
  const rows = Array.from({ length: 200_000 }, () => ['a']);
  expect(renderTable(terminal(), ['ONE'], rows).startsWith('ONE\na\n')).toBe(true);
});

test('without a width, a long text takes as much longer as it is longer', () => {
  expect(growth((size) => () => wrap('a '.repeat(size), Infinity), 5_000)).toBeLessThan(squareGrowth);
});
