import { expect, test } from 'vitest';
import { approversOf, approversOfGrant, type Approver } from '../../../src/core/ledger/approved-by.ts';
import type { OutcomeName } from '../../../src/core/ledger/approval.ts';
import { emptyLedger, type Ledger, type SettledRequest } from '../../../src/core/ledger/ledger.ts';
import { engine } from '../../../src/core/policy/ruling.ts';

const directories = { ceiling: { people: { dora: { groups: [], keys: [], also: ['u.17', 'd@x.org'] } } } };

interface Asked {
  outcome?: OutcomeName;
  runs?: boolean;
  votes?: { reviewerId?: string; keyId?: string; approved: boolean }[];
  delegations?: { from: string; to: string; by?: string; movedBy?: string; keyId?: string }[];
  grantedBy?: { reviewerId?: string }[];
}

function settled({ outcome = 'approved', runs = outcome === 'approved', ...asked }: Asked): SettledRequest {
  return { votes: [], delegations: [], ...asked, settlement: { outcome, runs } } as unknown as SettledRequest;
}

const ann = { reviewerId: 'ann', approved: true };
const bob = { reviewerId: 'bob', approved: true };
const no = { reviewerId: 'carl', approved: false };
test.each<[string, Asked, Approver[]]>([
  ['those who approved', { votes: [ann, no, bob] }, [{ reviewerId: 'ann' }, { reviewerId: 'bob' }]],
  ['their keys', { votes: [{ ...ann, keyId: 'k' }] }, [{ reviewerId: 'ann', keyId: 'k' }]],
  [
    'all ids of a person',
    { votes: [{ reviewerId: 'U.17', approved: true, keyId: 'k' }] },
    [{ reviewerId: 'U.17', keyId: 'k' }, { reviewerId: 'dora' }, { reviewerId: 'u.17' }, { reviewerId: 'd@x.org' }],
  ],
  [
    'one person once',
    {
      votes: [ann],
      delegations: [
        { from: 'carl', to: 'ann' },
        { from: 'ann', to: 'carl' },
      ],
    },
    [{ reviewerId: 'ann' }, { reviewerId: 'carl' }],
  ],
  ['a key without a name', { votes: [{ keyId: 'k', approved: true }] }, [{ keyId: 'k' }]],
  ['nobody without a name or key', { votes: [{ approved: true }] }, []],
  ['who answered in the tool’s place', { outcome: 'responded', votes: [ann, no] }, [{ reviewerId: 'carl' }]],
  ['nobody who denied', { outcome: 'denied', votes: [no] }, []],
  ['nobody who approved what expired', { outcome: 'expired', runs: true, votes: [ann] }, []],
  [
    'those who made the grant',
    { outcome: 'superseded', runs: true, grantedBy: [{ reviewerId: 'ann' }] },
    [{ reviewerId: 'ann' }],
  ],
  ['nobody who made a standing denial', { outcome: 'superseded', grantedBy: [{ reviewerId: 'ann' }] }, []],
  [
    'who gave up a seat',
    { votes: [bob], delegations: [{ from: 'ann', to: 'bob' }] },
    [{ reviewerId: 'bob' }, { reviewerId: 'ann' }],
  ],
  [
    'the operator who moved a seat, and their key',
    { votes: [bob], delegations: [{ from: 'ann', to: 'bob', by: 'operator', movedBy: 'zoe', keyId: 'desk' }] },
    [{ reviewerId: 'bob' }, { reviewerId: 'zoe', keyId: 'desk' }],
  ],
  [
    'nobody whose seat is a deputy’s',
    { votes: [bob], delegations: [{ from: 'ann', to: 'bob', by: 'away' }] },
    [{ reviewerId: 'bob' }],
  ],
  [
    'all hands through which a seat went, and the keys',
    {
      votes: [bob],
      delegations: [
        { from: 'ann', to: 'eve', keyId: 'ann-laptop' },
        { from: 'eve', to: 'bob' },
      ],
    },
    [{ reviewerId: 'bob' }, { reviewerId: 'eve' }, { reviewerId: 'ann', keyId: 'ann-laptop' }],
  ],
  [
    'all hands through which a seat went, whichever gave it first',
    {
      votes: [bob],
      delegations: [
        { from: 'eve', to: 'bob' },
        { from: 'ann', to: 'eve', keyId: 'ann-laptop' },
      ],
    },
    [{ reviewerId: 'bob' }, { reviewerId: 'eve' }, { reviewerId: 'ann', keyId: 'ann-laptop' }],
  ],
  [
    'nobody who gave a seat to others',
    { votes: [bob], delegations: [{ from: 'ann', to: 'carl' }] },
    [{ reviewerId: 'bob' }],
  ],
  [
    'those who made the grant that lets an edited call run',
    { votes: [bob], grantedBy: [{ reviewerId: 'ann' }] },
    [{ reviewerId: 'bob' }, { reviewerId: 'ann' }],
  ],
  [
    'nobody who gave up a seat where a policy decided',
    { outcome: 'superseded', runs: true, delegations: [{ from: 'ann', to: 'bob' }] },
    [],
  ],
])('an approval relies on %s', (_, asked, expected) => {
  expect(approversOf(settled(asked), directories)).toEqual(expected);
});

test('a standing denial relies on nobody, and neither does a grant that is gone', () => {
  const by = [{ reviewerId: 'ann', identity: 'claimed' as const }];
  const grants = [true, false].map((approved) => ({ grantId: `${approved}`, tool: 'pay', approved, scope: {}, by }));
  const ledger = { ...emptyLedger(engine), grants } as unknown as Ledger;
  expect(['true', 'false', 'gone'].map((id) => approversOfGrant(id, ledger, directories))).toEqual([
    [{ reviewerId: 'ann' }],
    [],
    [],
  ]);
});
