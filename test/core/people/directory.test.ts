import { describe, expect, test } from 'vitest';
import {
  groupOf,
  isOneOf,
  membersOf,
  namesIn,
  personKeyIn,
  personOf,
  type Directory,
} from '../../../src/core/people/directory.ts';

const directory: Directory = {
  people: {
    ann: { groups: ['finance'], keys: ['k1'] },
    bob: { groups: ['finance', 'legal'], keys: [] },
    constructor: { groups: ['odd'], keys: [] },
    // 'é' as two code points, as some file systems and keyboards write it.
    'rene\u0301': { groups: ['cafe\u0301'], keys: [] },
  },
};

describe('isOneOf', () => {
  test.each<[string, string, string[], boolean]>([
    ['by name', 'ann', ['ann'], true],
    ['by another name', 'ann', ['bob'], false],
    ['somebody the directory does not know, by name', 'zoe', ['zoe'], true],
    ['by group', 'bob', ['group:legal'], true],
    ['not in the group', 'ann', ['group:legal'], false],
    ['a group nobody is in', 'ann', ['group:cfo'], false],
    ['any of several', 'bob', ['ann', 'group:legal'], true],
    ['of nobody', 'ann', [], false],
    ['a group is no person', 'finance', ['group:finance'], false],
    ['a person called like a group', 'group:finance', ['group:finance'], false],
    ['a person is no group', 'ann', ['finance'], false],
    ['in other letters', 'Ann', ['ann'], true],
    ['in other letters, by a group in others', 'ANN', ['group:Finance'], true],
    ['with what nobody sees', 'an\u200bn', ['group:finance'], true],
    ['an inherited property makes no person', 'toString', ['group:odd', 'group:undefined'], false],
    ['an own property of that name does', 'constructor', ['group:odd'], true],
    ['composed name', 'ren\u00e9', ['rene\u0301'], true],
    ['composed name and group', 'ren\u00e9', ['group:caf\u00e9'], true],
  ])('%s', (_, person, names, expected) => {
    expect(isOneOf(directory, person, names)).toBe(expected);
  });

  test('without a directory no group has members, and names still count', () => {
    expect(isOneOf(undefined, 'ann', ['group:finance'])).toBe(false);
    expect(isOneOf(undefined, 'ann', ['ann'])).toBe(true);
  });
});

test.each<[string, string[], string[]]>([
  ['a name', ['zoe'], ['zoe']],
  ['a group', ['group:finance'], ['ann', 'bob']],
  ['each once', ['bob', 'group:finance', 'group:legal'], ['ann', 'bob']],
  ['in NFC', ['group:caf\u00e9', 'rene\u0301'], ['ren\u00e9']],
  ['a group nobody is in', ['group:cfo'], []],
  ['nobody', [], []],
])('members: %s', (_, names, expected) => {
  expect(membersOf(directory, names).toSorted()).toEqual(expected);
});

test.each<[string, string | undefined]>([
  ['ann', undefined],
  ['group:finance', 'finance'],
  ['group:cafe\u0301', 'caf\u00e9'],
  ['group:', ''],
  ['Group:finance', undefined],
])('group in %j', (name, expected) => {
  expect(groupOf(name)).toBe(expected);
});

test.each(['__proto__', 'toString', 'zoe', ''])('nobody is named %j', (id) => {
  expect(personOf(directory, id)).toBeUndefined();
});

describe('further ids', () => {
  const operator = {
    people: { Ann: { name: 'Ann Lee', also: ['ann@acme.com', 'u-17'] }, bob: { name: 'Bob' }, carl: {} },
  };
  const keyOf = personKeyIn(operator);

  test.each<[string, string]>([
    ['ann', 'ann'],
    ['ANN@acme.com', 'ann'],
    ['U-17', 'ann'],
    ['u-1\u200b7', 'ann'],
    ['u-18', 'u-18'],
    ['Bob', 'bob'],
    ['toString', 'tostring'],
  ])('%s is %s', (id, key) => {
    expect(keyOf(id)).toBe(key);
  });

  test('a directory of another layer names anybody by any id', () => {
    const own: Directory = { people: { 'u-17': { groups: ['ops'], keys: [] } } };
    expect(isOneOf(own, 'ann@acme.com', ['group:ops'], keyOf)).toBe(true);
    expect(isOneOf(own, 'bob', ['group:ops'], keyOf)).toBe(false);
    expect(membersOf(own, ['ann', 'group:ops'], keyOf)).toEqual(['u-17']);
  });

  test('the key is the same function each time, and without further ids that of spellings', () => {
    expect(personKeyIn(operator)).toBe(keyOf);
    expect(personKeyIn({ people: { bob: {} } })).toBe(personKeyIn(undefined));
  });

  test.each([null, 7, 'ann', { also: 7 }, { also: [7, null, 'u-1'] }, { also: { length: 1e9 } }])(
    'people of any form: %j',
    (person) => {
      expect(personKeyIn({ people: { ann: person as object } })('bob')).toBe('bob');
    },
  );

  test.each<[(string | null | undefined)[], object | undefined]>([
    [['u-17', null], { Ann: { name: 'Ann Lee', also: ['ann@acme.com', 'u-17'] } }],
    [['BOB', 'ann'], { Ann: operator.people.Ann, bob: { name: 'Bob' } }],
    [['carl', 'dora', undefined], undefined],
  ])('names of %j', (ids, expected) => {
    expect(namesIn(operator.people, ids, keyOf)).toEqual(expected);
  });
});
