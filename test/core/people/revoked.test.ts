import { describe, expect, test } from 'vitest';
import { panelOf, withoutRevoked } from '../../../src/core/ledger/panel.ts';
import { deputiesOf } from '../../../src/core/ledger/deputies.ts';
import type { Directories, RequestRecord } from '../../../src/core/ledger/ledger-state.ts';
import { cannotBeApproved } from '../../../src/core/people/cannot-be-approved.ts';
import { entitlement } from '../../../src/core/people/entitlement.ts';
import { isOneOf, personKeyIn, type Person } from '../../../src/core/people/directory.ts';
import { revokedByEither, revokedOf } from '../../../src/core/people/revoked.ts';
import { requestRecord } from '../../support/record-request.ts';

const keyless = { publicKey: `${'A'.repeat(43)}=`, operator: false };
const directories: Directories = {
  ceiling: {
    people: {
      ann: { groups: ['finance'], keys: ['old', 'new'], also: ['u-17'] },
      bob: { groups: ['finance'], keys: ['bobs'] },
    },
  },
  reviewerKeys: { old: keyless, new: keyless, bobs: keyless },
};
const asking = (more: Partial<RequestRecord> = {}, verified = false): RequestRecord => {
  const record = requestRecord(1, null);
  const requirement = {
    layer: 'ceiling',
    reviewers: ['group:finance'],
    quorum: 1,
    oneOfEach: [],
    escalate: [],
  } as const;
  return { ...record, ...more, terms: { ...record.terms, verified, requirements: [requirement] } };
};
const without = (revoked: Partial<NonNullable<Directories['revoked']>>): Directories => ({
  ...directories,
  revoked: { keys: [], people: [], ...revoked },
});
const vote = (reviewerId: string, keyId?: string) =>
  ({ reviewerId, keyId, identity: 'verified', approved: true, at: '', contentDigest: '' }) as const;
const approves = (record: RequestRecord, of: Directories, reviewerId: string): string | undefined =>
  entitlement(panelOf(record, of, 0), { reviewerId, identity: 'verified' }, true)?.code;

test.each<[object, object, string | undefined]>([
  [{ keys: ['k'] }, { keyId: 'k', reviewerId: 'ann' }, `key 'k'`],
  [{ people: ['Ann'] }, { reviewerId: 'ANN' }, `'ANN'`],
  [{ people: ['u-17'] }, { reviewerId: 'ann' }, `'ann'`],
  [{ people: ['ann'] }, { reviewerId: 'bob' }, undefined],
  [{ people: ['ann'] }, {}, undefined],
])('%j of %j', (revoked, voter, what) => {
  const keyOf = personKeyIn(directories.ceiling);
  expect(revokedOf({ keys: [], people: [], ...revoked }, voter, keyOf)).toBe(what);
});

test('nothing that was revoked counts again', () => {
  const [one, other] = [
    { keys: ['a'], people: [] },
    { keys: [], people: ['ann'] },
  ];
  expect(revokedByEither(one, other)).toEqual({ keys: ['a'], people: ['ann'] });
  expect(revokedByEither(one, undefined)).toBe(one);
});

describe('a seat', () => {
  const given = { from: 'ann', to: 'eve' };
  test('that a revoked person gave away approves nothing', () => {
    const record = asking({ delegations: [given] });
    expect(approves(record, directories, 'eve')).toBeUndefined();
    expect(approves(record, without({ people: ['u-17'] }), 'eve')).toBe('not_entitled');
  });

  test.each(['operator', 'away'] as const)('that went elsewhere by the word %s does', (by) => {
    const record = asking({ delegations: [{ ...given, by }] });
    expect(approves(record, without({ people: ['ann'] }), 'eve')).toBeUndefined();
  });
});

test('a vote with a revoked key bars no other one of its person', () => {
  const record = asking({ votes: [vote('ann', 'old'), vote('bob', 'bobs')] });
  expect(withoutRevoked(record, without({ keys: ['old'] })).votes).toEqual([vote('bob', 'bobs')]);
  expect(withoutRevoked(record, directories)).toBe(record);
});

test('a denial of a revoked person stays', () => {
  const denial = { ...vote('ann', 'old'), approved: false } as const;
  const record = asking({ votes: [denial, vote('ann', 'old')] });
  expect(withoutRevoked(record, without({ keys: ['old'] })).votes).toEqual([denial]);
});

test('a seat that a revoked person gave bars no approval from a seat of one’s own', () => {
  const delegations = [
    { from: 'ann', to: 'bob' },
    { from: 'carl', to: 'bob' },
  ];
  const kept = withoutRevoked(asking({ delegations }), without({ people: ['ann'] }));
  expect(kept.delegations).toEqual([{ from: 'carl', to: 'bob' }]);
});

test('who has only revoked keys cannot approve where signatures count', () => {
  const why = (revoked: object): string | undefined =>
    cannotBeApproved({ ...panelOf(asking({}, true), without(revoked), 0), requirements: annOnly }, []);
  const annOnly = [{ reviewers: ['ann'], quorum: 1, oneOfEach: [], directory: directories.ceiling }];
  expect(why({ keys: ['old'] })).toBeUndefined();
  expect(why({ keys: ['old', 'new'] })).toContain(`no key with which 'ann' could sign`);
});

test('a deputy with a key helps where the person has none', () => {
  const away = [{ fromAt: '2030-01-01T00:00:00Z', untilAt: '2031-01-01T00:00:00Z', deputy: 'bob' }];
  const people = { cat: { groups: [], keys: [], away }, bob: { groups: [], keys: ['bobs'] } };
  const record = asking({}, true);
  const requirement = { ...record.terms.requirements[0]!, reviewers: ['cat'] };
  const asked = { ...record, terms: { ...record.terms, requirements: [requirement] } };
  const found = deputiesOf(asked, { ...directories, ceiling: { people } }, Date.parse('2030-06-01T00:00:00Z'));
  expect(found).toMatchObject([{ from: 'cat', to: 'bob' }]);
});

test('a group has no further ids', () => {
  const people: Record<string, Person> = {
    ann: { groups: [], keys: [], also: ['finance'] },
    eve: { groups: ['ann'], keys: [] },
  };
  expect(isOneOf({ people }, 'eve', ['group:finance'], personKeyIn({ people }))).toBe(false);
  expect(isOneOf({ people }, 'eve', ['group:Ann'], personKeyIn({ people }))).toBe(true);
});

test('who may be the person who started the run approves nothing of theirs', () => {
  const record = asking({ request: { ...asking().request, callerUserId: 'ann@acme-ınc.com' } });
  const requirement = { ...record.terms.requirements[0]!, reviewers: ['ann@acme-inc.com'] };
  const asked = { ...record, terms: { ...record.terms, requirements: [requirement] } };
  expect(approves(asked, directories, 'ann@acme-inc.com')).toBe('self_approval');
});
