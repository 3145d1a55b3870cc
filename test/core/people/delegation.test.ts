import { expect, test } from 'vitest';
import fc from 'fast-check';
import { delegationProblem, takeBackProblem } from '../../../src/core/people/delegation-problem.ts';
import { Seats, seatsOf, withDelegation, type Delegation } from '../../../src/core/people/delegation.ts';
import { personKey } from '../../../src/core/people/directory.ts';
import type { Ballot, Panel, Voter } from '../../../src/core/people/entitlement.ts';

/** Parses `ann>bob bob>carl`. */
const read = (text: string): Delegation[] =>
  text === ''
    ? []
    : text.split(' ').map((each) => {
        const [from = '', to = ''] = each.split('>');
        return { from, to };
      });

test.each<[string, string, string, string[]]>([
  ['nobody delegated', '', 'bob', ['bob']],
  ['one seat more', 'ann>bob', 'bob', ['bob', 'ann>bob']],
  ['given away', 'ann>bob', 'ann', []],
  ['somebody else’s matter', 'ann>bob', 'carl', ['carl']],
  ['a chain', 'ann>bob bob>carl', 'carl', ['carl', 'ann>bob>carl', 'bob>carl']],
  ['a chain, its end first', 'bob>carl ann>bob', 'carl', ['carl', 'bob>carl', 'ann>bob>carl']],
  ['in the middle of a chain', 'ann>bob bob>carl', 'bob', []],
  ['from two', 'ann>carl bob>carl', 'carl', ['carl', 'ann>carl', 'bob>carl']],
  ['a seat is given once', 'ann>bob ann>carl', 'carl', ['carl']],
  ['and stays there', 'ann>bob ann>carl', 'bob', ['bob', 'ann>bob']],
  ['to themselves', 'ann>ann', 'ann', ['ann']],
  ['a circle does not close', 'ann>bob bob>ann', 'bob', ['bob', 'ann>bob']],
  ['nor a longer one', 'ann>bob bob>carl carl>ann', 'carl', ['carl', 'ann>bob>carl', 'bob>carl']],
  ['in NFC', 'rene\u0301>bob', 'bob', ['bob', 'ren\u00e9>bob']],
])('seats: %s', (_, delegations, person, expected) => {
  expect(seatsOf(read(delegations), person).map((seat) => seat.join('>'))).toEqual(expected);
});

const people = ['ann', 'bob', 'carl', 'dora', 'eve'];
const anyDelegations = fc.array(fc.record({ from: fc.constantFrom(...people), to: fc.constantFrom(...people) }), {
  maxLength: 8,
});

/** Naive version: seats are tokens that move with each delegation. */
function tokens(delegations: readonly Delegation[]): Map<string, string> {
  const at = new Map(people.map((person) => [person, person]));
  const sentTo = new Map<string, string>();
  for (const { from, to } of delegations) {
    let end = to;
    while (sentTo.has(end)) end = sentTo.get(end)!;
    if (sentTo.has(from) || end === from) continue;
    sentTo.set(from, end);
    for (const [owner, holder] of at) if (holder === from) at.set(owner, end);
  }
  return at;
}

test('each seat has one holder: the one whom its token reaches', () => {
  fc.assert(
    fc.property(anyDelegations, (delegations) => {
      const held = people.flatMap((person) => seatsOf(delegations, person).map(([owner]) => [owner, person] as const));
      expect(new Map(held)).toEqual(tokens(delegations));
      expect(held).toHaveLength(people.length);
      for (const person of people)
        expect(new Seats(delegations).holderOf(person)).toBe(tokens(delegations).get(person));
    }),
    { numRuns: 2_000 },
  );
});

const panel = (more: Partial<Panel> = {}): Panel => ({
  requirements: [{ reviewers: ['ann', 'bob', 'carl'], quorum: 1, oneOfEach: [], directory: undefined }],
  veto: true,
  verified: false,
  allowSelf: false,
  callerUserId: null,
  delegations: [],
  ...more,
});
const claimed = (reviewerId: string): Voter => ({ reviewerId, identity: 'claimed' });
const votes = (...ids: string[]): Ballot[] => ids.map((id) => ({ ...claimed(id), approved: true }));

test.each<[string, Panel, Ballot[], Voter, string, string | undefined]>([
  ['to a colleague', panel(), [], claimed('ann'), 'bob', undefined],
  ['to somebody new', panel(), [], claimed('ann'), 'zoe', undefined],
  ['on, along a chain', panel({ delegations: read('ann>zoe') }), [], claimed('zoe'), 'yan', undefined],
  ['to one who has delegated', panel({ delegations: read('bob>zoe') }), [], claimed('ann'), 'bob', undefined],
  ['by nobody', panel(), [], { identity: 'anonymous' }, 'bob', 'not_entitled'],
  [
    'by a name that nobody stands behind',
    panel(),
    [],
    { reviewerId: 'ann', identity: 'anonymous' },
    'bob',
    'not_entitled',
  ],
  ['by one who is no reviewer', panel(), [], claimed('zoe'), 'bob', 'not_entitled'],
  [
    'by a claimed one where verified is asked',
    panel({ verified: true }),
    [],
    claimed('ann'),
    'bob',
    'unverified_reviewer',
  ],
  ['to themselves', panel(), [], claimed('ann'), 'ann', 'invalid_message'],
  ['back', panel({ delegations: read('ann>bob') }), [], claimed('bob'), 'ann', 'invalid_message'],
  ['a second time', panel({ delegations: read('ann>bob') }), [], claimed('ann'), 'carl', 'not_entitled'],
  ['to a group', panel(), [], claimed('ann'), 'group:finance', 'invalid_message'],
  ['to nobody', panel(), [], claimed('ann'), '', 'invalid_message'],
  ['after voting', panel(), votes('ann'), claimed('ann'), 'bob', 'invalid_message'],
  ['to one who has voted', panel(), votes('bob'), claimed('ann'), 'bob', 'invalid_message'],
  [
    'to one whose delegate has voted',
    panel({ delegations: read('bob>zoe') }),
    votes('zoe'),
    claimed('ann'),
    'bob',
    'invalid_message',
  ],
  ['somebody else has voted', panel(), votes('carl'), claimed('ann'), 'bob', undefined],
  ['to whoever started the run', panel({ callerUserId: 'bob' }), [], claimed('ann'), 'bob', 'self_approval'],
  ['by whoever started the run', panel({ callerUserId: 'ann' }), [], claimed('ann'), 'bob', 'self_approval'],
  [
    'through whoever started the run',
    panel({ callerUserId: 'bob', delegations: read('bob>zoe') }),
    [],
    claimed('ann'),
    'bob',
    'self_approval',
  ],
  ['where they may approve', panel({ callerUserId: 'bob', allowSelf: true }), [], claimed('ann'), 'bob', undefined],
])('delegating %s', (_, thePanel, theVotes, from, to, code) => {
  expect(delegationProblem(thePanel, theVotes, from, to)?.code).toBe(code);
});

test.each<[string, Panel, Ballot[], Voter, string | undefined]>([
  ['before it is used', panel({ delegations: read('ann>bob') }), [], claimed('ann'), undefined],
  ['in another spelling', panel({ delegations: read('ann>bob') }), [], claimed('ANN'), undefined],
  ['out of the middle of a chain', panel({ delegations: read('ann>zoe zoe>yan') }), [], claimed('zoe'), undefined],
  ['after others have voted', panel({ delegations: read('ann>bob') }), votes('carl'), claimed('ann'), undefined],
  [
    'after the delegate has voted',
    panel({ delegations: read('ann>bob') }),
    votes('bob'),
    claimed('ann'),
    'invalid_message',
  ],
  [
    'after the delegate of the delegate has voted',
    panel({ delegations: read('ann>bob bob>zoe') }),
    votes('zoe'),
    claimed('ann'),
    'invalid_message',
  ],
  ['of another', panel({ delegations: read('ann>bob') }), [], claimed('zoe'), 'not_entitled'],
  [
    'by a claimed one where verified is asked',
    panel({ delegations: read('ann>bob'), verified: true }),
    [],
    claimed('ann'),
    'unverified_reviewer',
  ],
])('taking a seat back %s', (_, thePanel, theVotes, from, code) => {
  expect(takeBackProblem(thePanel, theVotes, from)?.code).toBe(code);
  if (code !== undefined) return;
  const { reviewerId = '' } = from;
  const after = withDelegation(thePanel.delegations, { from: reviewerId, to: reviewerId });
  expect(seatsOf(after, reviewerId).map((seat) => seat.at(-1))).toContain(personKey(reviewerId));
});

test('a delegation without a problem moves the seat', () => {
  fc.assert(
    fc.property(anyDelegations, fc.constantFrom(...people), fc.constantFrom(...people), (delegations, from, to) => {
      const open = panel({
        requirements: [{ reviewers: [], quorum: 1, oneOfEach: [], directory: undefined }],
        delegations,
      });
      fc.pre(delegationProblem(open, [], claimed(from), to) === undefined);
      const after = [...delegations, { from, to }];
      expect(seatsOf(after, from)).toEqual([]);
      expect(new Seats(after).holderOf(from)).toBe(new Seats(delegations).holderOf(to));
    }),
  );
});
