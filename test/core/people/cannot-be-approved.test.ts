import { expect, test } from 'vitest';
import { cannotBeApproved } from '../../../src/core/people/cannot-be-approved.ts';
import type { Ballot, Panel, SeatedRequirement } from '../../../src/core/people/entitlement.ts';

const directory = {
  people: {
    Ann: { groups: ['finance'], keys: [] },
    bob: { groups: ['finance'], keys: [] },
    carl: { groups: ['legal'], keys: [] },
    dora: { groups: ['finance', 'legal'], keys: [] },
  },
};
const needs = (more: Partial<SeatedRequirement>): SeatedRequirement => ({
  reviewers: [],
  quorum: 1,
  oneOfEach: [],
  directory,
  ...more,
});
const panel = (requirement: Partial<SeatedRequirement>, more: Partial<Panel> = {}): Panel => ({
  requirements: [needs(requirement)],
  veto: false,
  verified: false,
  allowSelf: false,
  callerUserId: null,
  delegations: [],
  ...more,
});
const denied = (reviewerId: string): Ballot => ({ reviewerId, identity: 'claimed', approved: false });
const three = { reviewers: ['group:finance'], quorum: 3 };

test.each<[string, Panel, Ballot[], string | undefined]>([
  ['anybody may', panel({}), [], undefined],
  ['enough people', panel(three), [], undefined],
  [
    'the person who started the run',
    panel(three, { callerUserId: 'ann' }),
    [],
    `it needs 3 approvals of 'group:finance', and only 'bob' and 'dora' can give one. The run was started by 'ann'.`,
  ],
  ['that person, where they may', panel(three, { callerUserId: 'ann', allowSelf: true }), [], undefined],
  [
    'that person alone',
    panel({ reviewers: ['bob'] }, { callerUserId: 'Bob' }),
    [],
    `it needs an approval of 'bob', and 'bob' cannot give one. The run was started by 'Bob'.`,
  ],
  [
    'two seats of one person',
    panel(three, {
      delegations: [
        { from: 'ann', to: 'Zoe' },
        { from: 'bob', to: 'zoe' },
      ],
    }),
    [],
    `it needs 3 approvals of 'group:finance', and only 'Zoe' and 'dora' can give one.`,
  ],
  [
    'a denial',
    panel(three),
    [denied('bob')],
    `it needs 3 approvals of 'group:finance', and only 'Ann' and 'dora' can give one. 'bob' denied it.`,
  ],
  [
    'a group without members',
    panel({ reviewers: ['group:cfo'] }),
    [],
    `it needs an approval of 'group:cfo', and none of them can give one.`,
  ],
  [
    'one of each',
    panel(
      { oneOfEach: ['group:finance', 'group:legal'] },
      {
        callerUserId: 'carl',
        delegations: [
          { from: 'dora', to: 'bob' },
          { from: 'ann', to: 'bob' },
        ],
      },
    ),
    [],
    `it needs an approval of 'group:finance' and 'group:legal', each by another person, and only 'bob' can give one. The run was started by 'carl'.`,
  ],
  [
    'no key',
    panel(three, { verified: true, canVerify: (key) => key === 'dora' }),
    [],
    `it needs 3 approvals of 'group:finance', and only 'dora' can give one. The operator's policy has no key with which 'Ann' and 'bob' could sign.`,
  ],
  ['keys where none is needed', panel(three, { canVerify: () => false }), [], undefined],
])('%s', (_, thePanel, votes, expected) => {
  const sentence =
    expected && `It cannot be approved: ${expected} Deny it: a new run needs a policy with more reviewers.`;
  expect(cannotBeApproved(thePanel, votes)).toBe(sentence);
});
