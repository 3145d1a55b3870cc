import { expect, test } from 'vitest';
import { deputiesOf } from '../../../src/core/ledger/deputies.ts';
import type { Directories } from '../../../src/core/ledger/ledger-state.ts';
import type { Absence, Person } from '../../../src/core/people/directory.ts';
import type { Requirement } from '../../../src/core/policy/ask-terms.ts';
import { requestRecord } from '../../support/record-request.ts';

const day = (number: number): string => `2030-01-${String(number).padStart(2, '0')}T00:00:00.000Z`;
const away = (deputy: string, from = 1, until = 15): Absence => ({ fromAt: day(from), untilAt: day(until), deputy });
const person = (absence?: Absence, groups: string[] = []): Person => ({
  groups,
  keys: [],
  ...(absence !== undefined && { away: [absence] }),
});
const asks = (more: Partial<Requirement>): Requirement => ({
  layer: 'ceiling',
  reviewers: [],
  quorum: 1,
  oneOfEach: [],
  escalate: [],
  ...more,
});

test.each<[string, Record<string, Person>, Partial<Requirement>, { caller?: string; at?: number }, string[]]>([
  ['a person who is asked by name', { bob: person(away('eve')) }, { reviewers: ['bob'] }, {}, ['bob>eve']],
  ['in another spelling', { bob: person(away('eve')) }, { reviewers: ['BOB'] }, {}, ['bob>eve']],
  ['of a group', { bob: person(away('eve'), ['ops']) }, { reviewers: ['group:ops'] }, {}, ['bob>eve']],
  ['one of each', { bob: person(away('eve'), ['ops']) }, { oneOfEach: ['group:ops'] }, {}, ['bob>eve']],
  [
    'who comes by an escalation',
    { bob: person(away('eve')) },
    { reviewers: ['ann'], escalate: [{ afterMs: 1, to: ['bob'] }] },
    {},
    ['bob>eve'],
  ],
  ['who is not asked', { bob: person(away('eve')) }, { reviewers: ['ann'] }, {}, []],
  ['where anybody is asked', { bob: person(away('eve')) }, {}, {}, []],
  ['on the day before', { bob: person(away('eve', 11)) }, { reviewers: ['bob'] }, { at: 10 }, []],
  ['on the first day', { bob: person(away('eve', 10)) }, { reviewers: ['bob'] }, { at: 10 }, ['bob>eve']],
  ['when it is over', { bob: person(away('eve', 1, 10)) }, { reviewers: ['bob'] }, { at: 10 }, []],
  [
    'a deputy who is away',
    { bob: person(away('eve')), eve: person(away('zoe')) },
    { reviewers: ['bob', 'eve'] },
    {},
    ['bob>zoe', 'eve>zoe'],
  ],
  [
    'a deputy who is away, and no reviewer',
    { eve: person(away('zoe')), bob: person(away('Eve')) },
    { reviewers: ['bob'] },
    {},
    ['bob>zoe'],
  ],
  [
    'a deputy who comes back before',
    { eve: person(away('zoe', 1, 10)), bob: person(away('eve')) },
    { reviewers: ['bob'] },
    {},
    ['bob>eve'],
  ],
  [
    'deputies who are all away',
    { bob: person(away('eve')), eve: person(away('zoe')), zoe: person(away('eve')) },
    { reviewers: ['bob'] },
    {},
    ['bob>eve'],
  ],
  [
    'two who are each other’s',
    { bob: person(away('eve')), eve: person(away('bob')) },
    { reviewers: ['bob', 'eve'] },
    {},
    ['bob>eve'],
  ],
  ['a deputy who started the run', { bob: person(away('eve')) }, { reviewers: ['bob'] }, { caller: 'Eve' }, []],
  [
    'a deputy who has a seat, where both are needed',
    { bob: person(away('eve')) },
    { reviewers: ['bob', 'eve'], quorum: 2 },
    {},
    [],
  ],
])('%s', (_, people, requirement, { caller, at = 10 }, expected) => {
  const record = requestRecord(1, null);
  const asked = {
    ...record,
    terms: { ...record.terms, requirements: [asks(requirement)] },
    request: { ...record.request, callerUserId: caller ?? null },
  };
  const directories: Directories = { ceiling: { people } };
  const found = deputiesOf(asked, directories, Date.parse(day(at)));
  expect(found.map(({ from, to }) => `${from}>${to}`)).toEqual(expected);
});

test('only the operator’s directory has deputies', () => {
  const record = requestRecord(1, null);
  const asked = { ...record, terms: { ...record.terms, requirements: [asks({ layer: 'run', reviewers: ['bob'] })] } };
  const directories: Directories = { run: { people: { bob: person(away('eve')) } } };
  expect(deputiesOf(asked, directories, Date.parse(day(10)))).toEqual([]);
});
