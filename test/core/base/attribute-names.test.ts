import { describe, expect, test } from 'vitest';
import { attributeNames, attributeTypes, defaultAttributeNames } from '../../../src/core/base/attribute-names.ts';
import { searchAttributes } from '../../../src/contract.ts';

describe('attribute names', () => {
  test('the defaults are those of the contract', () => {
    expect(attributeNames({})).toEqual(defaultAttributeNames);
    expect(attributeTypes(defaultAttributeNames)).toEqual(searchAttributes);
  });

  test.each([
    [{ ids: 'Mine' }, { ids: 'Mine', tags: 'ApprovalTags', due: 'ApprovalDue' }],
    [{ tags: false as const }, { ids: 'ApprovalIds', tags: null, due: 'ApprovalDue' }],
    [
      { ids: 'a', tags: 'b', due: 'c' },
      { ids: 'a', tags: 'b', due: 'c' },
    ],
  ])('%j is %j', (wishes, expected) => {
    expect(attributeNames(wishes)).toEqual(expected);
  });

  test('without tags, two are registered', () => {
    expect(attributeTypes({ ids: 'I', tags: null, due: 'D' })).toEqual({ I: 'KEYWORD_LIST', D: 'DATETIME' });
  });

  test.each<[object, string]>([
    [{ name: 'x' }, "'name' is none of ids, tags, due"],
    [{ toString: 'x' }, "'toString' is none of ids, tags, due"],
    [{ ids: '' }, "'' is not a name: letters, digits and _, at most 64, not beginning with Temporal"],
    [{ ids: 'A" OR "' }, `'A" OR "' is not a name: letters, digits and _, at most 64, not beginning with Temporal`],
    [{ due: 'TemporalX' }, "'TemporalX' is not a name: letters, digits and _, at most 64, not beginning with Temporal"],
    [{ ids: false }, "'false' is not a name: letters, digits and _, at most 64, not beginning with Temporal"],
    [{ ids: 'ApprovalDue' }, 'each attribute needs a name of its own'],
  ])('%j: %s', (wishes, problem) => {
    expect(attributeNames(wishes)).toBe(problem);
  });
});
