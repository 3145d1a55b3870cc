import { describe, expect, test } from 'vitest';
import type { Directory } from '../../../src/core/people/directory.ts';
import {
  approversOf,
  entitlement,
  tally,
  type Ballot,
  type Identity,
  type Panel,
  type SeatedRequirement,
  type Voter,
} from '../../../src/core/people/entitlement.ts';

const directory: Directory = {
  people: {
    ann: { groups: ['finance'], keys: [] },
    bob: { groups: ['finance', 'legal'], keys: [] },
    carl: { groups: ['legal'], keys: [] },
  },
};
const needs = (more: Partial<SeatedRequirement> = {}): SeatedRequirement => ({
  reviewers: [],
  quorum: 1,
  oneOfEach: [],
  directory,
  ...more,
});
const panel = (requirements: SeatedRequirement[], more: Partial<Panel> = {}): Panel => ({
  requirements,
  veto: true,
  verified: false,
  allowSelf: false,
  callerUserId: null,
  delegations: [],
  ...more,
});
const voter = (
  reviewerId?: string,
  identity: Identity = reviewerId === undefined ? 'anonymous' : 'claimed',
): Voter => ({
  ...(reviewerId !== undefined && { reviewerId }),
  identity,
});
/** Parses `ann+ bob- ?+`: approvals and denials in order; `?` is anonymous. */
const votes = (text: string): Ballot[] =>
  text.split(' ').flatMap((each) => {
    if (each === '') return [];
    const id = each.slice(0, -1);
    return [{ ...voter(id === '?' ? undefined : id), approved: each.endsWith('+') }];
  });

const finance = needs({ reviewers: ['group:finance'] });
const bothGroups = needs({ oneOfEach: ['group:finance', 'group:legal'] });
const yes = true;
const no = false;

describe('who may answer', () => {
  test.each<[string, Panel, Voter, boolean, string | undefined]>([
    ['anyone, where nobody is named', panel([needs()]), voter('zoe'), yes, undefined],
    ['without a name, where nobody is named', panel([needs()]), voter(), yes, undefined],
    ['an empty name is none', panel([finance]), voter('', 'claimed'), yes, 'not_entitled'],
    ['a name that nobody stands behind is none', panel([finance]), voter('ann', 'anonymous'), yes, 'not_entitled'],
    ['without a name, reviewers are named', panel([finance]), voter(), yes, 'not_entitled'],
    ['without a name, a quorum', panel([needs({ quorum: 2 })]), voter(), yes, 'not_entitled'],
    ['without a name, one of each', panel([bothGroups]), voter(), no, 'not_entitled'],
    ['without a name, one of two layers names', panel([needs(), finance]), voter(), no, 'not_entitled'],
    ['without a name, the rule wants one', panel([needs()], { named: true }), voter(), yes, 'not_entitled'],
    ['a reviewer', panel([finance]), voter('ann'), yes, undefined],
    ['a stranger', panel([finance]), voter('zoe'), yes, 'not_entitled'],
    ['a stranger may not deny either', panel([finance]), voter('zoe'), no, 'not_entitled'],
    ['a quorum of anyone', panel([needs({ quorum: 2 })]), voter('zoe'), yes, undefined],
    ['one of each without reviewers: one of these', panel([bothGroups]), voter('carl'), yes, undefined],
    ['one of each without reviewers: a stranger', panel([bothGroups]), voter('zoe'), yes, 'not_entitled'],
    [
      'one of each beside reviewers',
      panel([needs({ reviewers: ['zoe'], oneOfEach: ['carl'] })]),
      voter('carl'),
      yes,
      undefined,
    ],
    ['a reviewer of one of two layers', panel([finance, needs({ reviewers: ['zoe'] })]), voter('zoe'), yes, undefined],
    [
      'each layer reads its own directory',
      panel([needs({ reviewers: ['group:finance'], directory: undefined })]),
      voter('ann'),
      yes,
      'not_entitled',
    ],
    ['a claim, verified is asked', panel([finance], { verified: true }), voter('ann'), yes, 'unverified_reviewer'],
    [
      'a claimed denial, verified is asked',
      panel([finance], { verified: true }),
      voter('ann'),
      no,
      'unverified_reviewer',
    ],
    ['nobody, verified is asked', panel([needs()], { verified: true }), voter(), yes, 'unverified_reviewer'],
    ['verified', panel([finance], { verified: true }), voter('ann', 'verified'), yes, undefined],
    ['verified and a stranger', panel([finance], { verified: true }), voter('zoe', 'verified'), yes, 'not_entitled'],
    ['whoever started it', panel([finance], { callerUserId: 'ann' }), voter('ann'), yes, 'self_approval'],
    [
      'whoever started it, in another Unicode form',
      panel([needs()], { callerUserId: 'ren\u00e9' }),
      voter('rene\u0301'),
      yes,
      'self_approval',
    ],
    ['whoever started it may deny', panel([finance], { callerUserId: 'ann' }), voter('ann'), no, undefined],
    [
      'whoever started it, allowed',
      panel([finance], { callerUserId: 'ann', allowSelf: true }),
      voter('ann'),
      yes,
      undefined,
    ],
    ['whoever started it, no reviewer', panel([finance], { callerUserId: 'zoe' }), voter('zoe'), yes, 'not_entitled'],
    [
      'whoever started it, where anyone may',
      panel([needs()], { callerUserId: 'zoe' }),
      voter('zoe'),
      yes,
      'self_approval',
    ],
    ['somebody else', panel([finance], { callerUserId: 'ann' }), voter('bob'), yes, undefined],
  ])('%s', (_, thePanel, theVoter, approves, code) => {
    expect(entitlement(thePanel, theVoter, approves)?.code).toBe(code);
  });

  const given = [{ from: 'ann', to: 'zoe' }];
  test.each<[string, Partial<Panel>, string, boolean, string | undefined]>([
    ['who got a seat', { delegations: given }, 'zoe', yes, undefined],
    ['who gave it away', { delegations: given }, 'ann', yes, 'not_entitled'],
    ['who gave it away may not deny either', { delegations: given }, 'ann', no, 'not_entitled'],
    [
      'whoever started it, with another’s seat',
      { delegations: given, callerUserId: 'zoe' },
      'zoe',
      yes,
      'self_approval',
    ],
    ['with the seat of whoever started it', { delegations: given, callerUserId: 'ann' }, 'zoe', yes, 'self_approval'],
    ['with it, a denial', { delegations: given, callerUserId: 'ann' }, 'zoe', no, undefined],
    ['with it, allowed', { delegations: given, callerUserId: 'ann', allowSelf: true }, 'zoe', yes, undefined],
    [
      'with a seat that went through their hands',
      {
        delegations: [
          { from: 'ann', to: 'yan' },
          { from: 'yan', to: 'zoe' },
        ],
        callerUserId: 'yan',
      },
      'zoe',
      yes,
      'self_approval',
    ],
    [
      'with a seat of their own besides',
      { delegations: [{ from: 'ann', to: 'bob' }], callerUserId: 'ann' },
      'bob',
      yes,
      undefined,
    ],
  ])('delegation: %s', (_, more, id, approves, code) => {
    expect(entitlement(panel([finance], more), voter(id), approves)?.code).toBe(code);
  });
});

test.each<[string, Panel, Voter, boolean, string]>([
  [
    'verified',
    panel([finance], { verified: true }),
    voter('ann'),
    yes,
    'only verified reviewers decide this request: sign the decision',
  ],
  [
    'no name',
    panel([finance]),
    voter(),
    yes,
    `a decision about this request needs 'reviewerId': not everyone may decide`,
  ],
  [
    'stranger',
    panel([finance]),
    voter('zoe'),
    yes,
    `'zoe' is not among the reviewers of this request: the directory of the policy says who is in a group`,
  ],
  [
    'stranger, and no group',
    panel([needs({ reviewers: ['ann'] })]),
    voter('zoe'),
    yes,
    `'zoe' is not among the reviewers of this request`,
  ],
  [
    'delegated',
    panel([finance], { delegations: [{ from: 'ann', to: 'zoe' }] }),
    voter('ann'),
    yes,
    `'ann' has delegated this request; 'zoe' decides instead`,
  ],
  [
    'self',
    panel([finance], { callerUserId: 'ann' }),
    voter('ann'),
    yes,
    `'ann' cannot approve: the run was started by 'ann', and nobody may approve calls of their own run`,
  ],
])('the sentence says why: %s', (_, thePanel, theVoter, approves, sentence) => {
  expect(entitlement(thePanel, theVoter, approves)?.message).toBe(sentence);
});

describe('the outcome of votes', () => {
  const two = needs({ reviewers: ['group:finance', 'carl'], quorum: 2 });
  const loose = { veto: false };
  test.each<[string, Panel, string, string]>([
    ['no vote', panel([finance]), '', '0/1'],
    ['no vote, where nothing is demanded', panel([]), '', '0/0'],
    ['no vote, where none is needed', panel([needs({ quorum: 0 })]), '', '0/0'],
    ['one of one', panel([finance]), 'ann+', '1/1 approved'],
    ['nobody named', panel([needs()]), '?+', '1/1 approved'],
    ['nobody named, denied', panel([needs()]), '?-', '0/1 denied'],
    ['one of two', panel([two]), 'ann+', '1/2'],
    ['two of two', panel([two]), 'ann+ bob+', '2/2 approved'],
    ['twice the same', panel([two]), 'ann+ ann+', '1/2'],
    ['the same in another Unicode form', panel([needs({ quorum: 2 })]), 'ren\u00e9+ rene\u0301+', '1/2'],
    ['a second thought', panel([two]), 'ann+ ann-', '1/2'],
    ['a stranger', panel([two]), 'ann+ zoe+', '1/2'],
    ['a stranger’s denial', panel([two]), 'zoe-', '0/2'],
    ['anonymous among named', panel([two]), 'ann+ ?+ ?-', '1/2'],
    ['a veto', panel([two]), 'ann+ bob-', '1/2 denied'],
    ['no veto, still possible', panel([two], loose), 'ann+ bob-', '1/2'],
    ['no veto, in spite of one', panel([two], loose), 'ann+ bob- carl+', '2/2 approved'],
    ['no veto, impossible', panel([two], loose), 'ann- bob-', '0/2 denied'],
    ['no veto, the last who could', panel([finance], loose), 'ann-', '0/1'],
    ['no veto, nobody left', panel([finance], loose), 'ann- bob-', '0/1 denied'],
    ['no veto, anyone may still come', panel([needs()], loose), '?- ann- bob-', '0/1'],
    ['no veto, somebody unknown by name may', panel([needs({ reviewers: ['ann', 'zoe'] })], loose), 'ann-', '0/1'],
    [
      'nobody can, and nobody denied: the deadline decides',
      panel([needs({ reviewers: ['group:cfo'] })], loose),
      '',
      '0/1',
    ],
    [
      'no veto, the other is whoever started it',
      panel([finance], { ...loose, callerUserId: 'bob' }),
      'ann-',
      '0/1 denied',
    ],
    ['whoever started it approves', panel([finance], { callerUserId: 'ann' }), 'ann+', '0/1'],
    ['one of each, one', panel([bothGroups]), 'ann+', '1/2'],
    ['one of each, two', panel([bothGroups]), 'ann+ carl+', '2/2 approved'],
    ['one of each: who is in both counts once', panel([bothGroups]), 'bob+', '1/2'],
    ['one of each: and makes room for another', panel([bothGroups]), 'bob+ ann+', '2/2 approved'],
    ['one of each: two of one group', panel([needs({ oneOfEach: ['group:legal', 'ann'] })]), 'bob+ carl+', '1/2'],
    ['one of each, impossible', panel([bothGroups], loose), 'carl- bob-', '0/2 denied'],
    ['one of each, needed twice', panel([bothGroups], loose), 'ann- carl-', '0/2 denied'],
    [
      'reviewers, and one of each besides',
      panel([needs({ reviewers: ['group:finance'], quorum: 2, oneOfEach: ['carl'] })]),
      'carl+ ann+',
      '1/2',
    ],
    [
      'all of these',
      panel([needs({ reviewers: ['group:finance'], quorum: 2, oneOfEach: ['carl'] })]),
      'carl+ ann+ bob+',
      '2/2 approved',
    ],
    [
      'one vote fills a quorum and is one of each',
      panel([needs({ reviewers: ['group:finance'], quorum: 2, oneOfEach: ['group:legal'] })]),
      'ann+ bob+',
      '2/2 approved',
    ],
    [
      'without reviewers, the quorum is of those of one of each',
      panel([needs({ quorum: 3, oneOfEach: ['group:legal'] })]),
      'ann+ bob+ carl+',
      '2/3',
    ],
    ['two layers, one met', panel([finance, needs({ reviewers: ['carl'] })]), 'ann+', '1/2'],
    ['two layers, both met', panel([finance, needs({ reviewers: ['carl'] })]), 'ann+ carl+', '2/2 approved'],
    ['two layers, by one person', panel([finance, needs({ reviewers: ['group:legal'] })]), 'bob+', '2/2 approved'],
    ['a claim, verified is asked', panel([finance], { verified: true }), 'ann+ bob-', '0/1'],
  ])('%s', (_, thePanel, text, expected) => {
    const { outcome, have, need } = tally(thePanel, votes(text));
    expect(`${have}/${need}${outcome === undefined ? '' : ` ${outcome}`}`).toBe(expected);
  });

  const annToZoe = [{ from: 'ann', to: 'zoe' }];
  test.each<[string, Panel, string, string]>([
    ['who got a seat', panel([finance], { delegations: annToZoe }), 'zoe+', '1/1 approved'],
    ['who gave it away', panel([finance], { delegations: annToZoe }), 'ann+', '0/1'],
    ['who gave it away does not deny', panel([finance], { delegations: annToZoe }), 'ann-', '0/1'],
    ['two seats, one vote', panel([two], { delegations: [{ from: 'ann', to: 'bob' }] }), 'bob+', '1/2'],
    [
      'two seats of two groups, one vote',
      panel([bothGroups], { delegations: [{ from: 'ann', to: 'carl' }] }),
      'carl+',
      '1/2',
    ],
    [
      'the second seat serves where the own cannot',
      panel([bothGroups], { delegations: [{ from: 'ann', to: 'carl' }] }),
      'carl+ bob+',
      '2/2 approved',
    ],
    [
      'no veto, the delegate denies for both',
      panel([finance], { ...loose, delegations: [{ from: 'ann', to: 'bob' }] }),
      'bob-',
      '0/1 denied',
    ],
    ['no veto, the delegate may still come', panel([finance], { ...loose, delegations: annToZoe }), 'bob-', '0/1'],
    [
      'no veto, the seat went to whoever started it',
      panel([finance], { ...loose, delegations: annToZoe, callerUserId: 'zoe' }),
      'bob-',
      '0/1 denied',
    ],
  ])('delegation: %s', (_, thePanel, text, expected) => {
    const { outcome, have, need } = tally(thePanel, votes(text));
    expect(`${have}/${need}${outcome === undefined ? '' : ` ${outcome}`}`).toBe(expected);
  });
});

test.each<[string, Panel, string, string[] | undefined]>([
  ['of a group, those of the directory', panel([finance]), '', ['ann', 'bob']],
  ['of a group without members, nobody', panel([needs({ reviewers: ['group:sales'] })]), '', []],
  ['a person whom no directory knows', panel([needs({ reviewers: ['zoe'] })]), '', ['zoe']],
  ['not whoever started the run', panel([finance], { callerUserId: 'ann' }), '', ['bob']],
  ['not whoever has voted', panel([finance]), 'ann+', ['bob']],
  ['who was given a seat', panel([finance], { delegations: [{ from: 'ann', to: 'zoe' }] }), '', ['bob', 'zoe']],
  ['anyone', panel([needs()]), '', undefined],
  [
    'too many to list',
    panel([needs({ reviewers: Array.from({ length: 201 }, (_, index) => `p${index}`) })]),
    '',
    undefined,
  ],
])('who can approve now: %s', (_, thePanel, voted, people) => {
  expect(approversOf(thePanel, votes(voted))).toEqual(people);
});
