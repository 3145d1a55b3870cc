import { describe, expect, test } from 'vitest';
import * as fc from 'fast-check';
import { type ArgumentBlock, argumentBlocks } from '../../src/card/argument-blocks.ts';
import { cardOf } from '../../src/card/card-of.ts';
import type { CardField } from '../../src/card/card.ts';
import type { Json, JsonObject } from '../../src/core/base/tool-call.ts';
import { hostileCard } from './hostile-cards.ts';
import { cardRequest } from './sample-requests.ts';

const blocksOf = (args: JsonObject): ArgumentBlock[] =>
  argumentBlocks(cardOf(cardRequest({ arguments: args })).arguments);

/** A layout in short: values by their texts. */
function shape(block: ArgumentBlock): Json {
  switch (block.kind) {
    case 'field':
      return `${block.name}=${block.field.value.text}`;
    case 'group':
      return { [block.name]: block.blocks.map(shape) };
    case 'list':
      return { [block.name]: block.fields.map(({ value }) => value.text).join(' | ') };
    case 'table': {
      const rows = block.rows.map(({ index, cells }) => [index, ...cells.map((cell) => cell?.value.text ?? '')]);
      return { [block.name]: [['', ...block.columns.map(({ name }) => name)], ...rows].map((row) => row.join(' ')) };
    }
  }
}

function fieldsIn(block: ArgumentBlock): CardField[] {
  switch (block.kind) {
    case 'field':
      return [block.field];
    case 'group':
      return block.blocks.flatMap(fieldsIn);
    case 'list':
      return block.fields;
    case 'table':
      return block.rows.flatMap(({ cells }) => cells.filter((cell) => cell !== undefined));
  }
}

describe('the layout of arguments', () => {
  test.each<[name: string, args: JsonObject, shapes: Json[]]>([
    [
      'a list of flat objects is a table',
      {
        total: 5,
        lines: [
          { sku: 'A', price: 2 },
          { sku: 'B', price: 3, note: 'x' },
        ],
      },
      ['total=5', { lines: [' sku price note', '[0] A 2 ', '[1] B 3 x'] }],
    ],
    [
      'a nested object is a group',
      { to: { name: 'Ann', at: { city: 'Leeds' } } },
      [{ to: ['name=Ann', { at: ['city=Leeds'] }] }],
    ],
    ['a list of values is one', { cc: ['ann', 'bob'] }, [{ cc: 'ann | bob' }]],
    ['one object is no table', { lines: [{ sku: 'A' }] }, [{ lines: [{ '[0]': ['sku=A'] }] }]],
    [
      'objects that are not flat are no table',
      { lines: [{ sku: 'A' }, { sku: { a: 1 } }] },
      [{ lines: [{ '[0]': ['sku=A'] }, { '[1]': [{ sku: ['a=1'] }] }] }],
    ],
    [
      'a long value is no cell',
      { lines: [{ sku: 'A' }, { sku: 'a'.repeat(81) }] },
      [{ lines: [{ '[0]': ['sku=A'] }, { '[1]': [`sku=${'a'.repeat(81)}`] }] }],
    ],
    [
      'a member whose name looks like a place is no element of a list',
      { lines: { '[0]': { sku: 'A' }, '[1]': { sku: 'B' } } },
      [{ lines: [{ '"[0]"': ['sku=A'] }, { '"[1]"': ['sku=B'] }] }],
    ],
  ])('%s', (_name, args, shapes) => {
    expect(blocksOf(args).map(shape)).toEqual(shapes);
  });

  test('each field of a hostile card is in one block, in its order but for the columns of a table', () => {
    fc.assert(
      fc.property(hostileCard, ({ card }) => {
        const laidOut = argumentBlocks(card.arguments).flatMap(fieldsIn);
        expect(laidOut).toHaveLength(card.arguments.length);
        expect(new Set(laidOut)).toEqual(new Set(card.arguments));
      }),
      { numRuns: 100 },
    );
  });
});
