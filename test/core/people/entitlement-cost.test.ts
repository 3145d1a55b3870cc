/** Many people, names and votes: what is read once must cost little, and say what reading it each time says. */
import { expect, test, vi } from 'vitest';
import fc from 'fast-check';
import { nfc } from '../../../src/core/base/text.ts';
import { Seats, seatsOf, type Delegation } from '../../../src/core/people/delegation.ts';
import { groupOf, isAmong, isOneOf, membersOf, type Directory } from '../../../src/core/people/directory.ts';
import {
  approversOf,
  entitlement,
  tally,
  type Ballot,
  type Panel,
  type SeatedRequirement,
} from '../../../src/core/people/entitlement.ts';
import { growth, squareGrowth } from '../../support/processor-time.ts';
import { least, runs } from '../../support/thorough.ts';

/** Two names are one in NFC. */
const people = ['ann', 'bob', 'carl', 'ren\u00e9', 'rene\u0301'];
const groups = ['g', 'h', 'caf\u00e9', 'cafe\u0301'];
const person = fc.constantFrom(...people);
const directory: fc.Arbitrary<Directory> = fc
  .dictionary(
    person,
    fc.record({ groups: fc.array(fc.constantFrom(...groups), { maxLength: 2 }), keys: fc.constant([]) }),
  )
  .map((known) => ({ people: known }));
const names = fc.array(fc.constantFrom(...people, ...groups.map((group) => `group:${group}`)), { maxLength: 4 });
const panel: fc.Arbitrary<Panel> = fc.record({
  requirements: fc.array(
    fc.record({
      reviewers: names,
      quorum: fc.constantFrom(1, 1, 2, 3),
      oneOfEach: fc.oneof(fc.constant([]), names),
      directory: fc.option(directory, { nil: undefined, freq: 8 }),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  veto: fc.boolean(),
  verified: fc.boolean(),
  allowSelf: fc.boolean(),
  callerUserId: fc.option(person, { nil: null }),
  delegations: fc.array(fc.record({ from: person, to: person }), { maxLength: 4 }),
});
const votes: fc.Arbitrary<Ballot[]> = fc.array(
  fc.record({
    reviewerId: person,
    identity: fc.constantFrom('claimed', 'verified'),
    approved: fc.constantFrom(true, false, false),
  }),
  { minLength: 1, maxLength: 4 },
);

test('whoever reads each name again for each person gets the same', () => {
  const seen = { members: 0, approvers: 0, denied: 0, open: 0 };
  fc.assert(
    fc.property(panel, votes, names, (thePanel, cast, some) => {
      for (const { directory: known } of thePanel.requirements) {
        expect(membersOf(known, some)).toEqual(naive.membersOf(known, some));
        for (const id of people) {
          const expected = naive.isOneOf(known, id, some);
          expect(isOneOf(known, id, some)).toBe(expected);
          expect(isAmong(known, some)(nfc(id))).toBe(expected);
        }
        seen.members += membersOf(known, some).length;
      }
      for (const vote of cast) {
        expect(entitlement(thePanel, vote, vote.approved)?.code).toBe(naive.entitlement(thePanel, vote, vote.approved));
      }
      const approvers = approversOf(thePanel, cast);
      expect(approvers).toEqual(naive.approversOf(thePanel, cast));
      seen.approvers += approvers?.length ?? 0;
      const { outcome } = tally({ ...thePanel, veto: false }, cast);
      // What was approved already is no longer asked about.
      if (outcome !== 'approved' && cast.some((vote) => !vote.approved && naive.counts(thePanel, vote, cast))) {
        expect(outcome === undefined).toBe(naive.canBeApproved(thePanel, cast));
        seen[outcome === undefined ? 'open' : 'denied'] += 1;
      }
    }),
    { numRuns: runs(2_000) },
  );
  // Each must occur often.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(least(30));
});

/** Reads everything again for each question. */
const naive = {
  isOneOf(known: Directory | undefined, personId: string, of: readonly string[]): boolean {
    const id = nfc(personId);
    const all = known?.people ?? {};
    const written = Object.hasOwn(all, id) ? id : Object.keys(all).find((name) => nfc(name) === id);
    const own = written === undefined ? [] : all[written]!.groups.map((group) => nfc(group));
    return of.some((name) => {
      const group = groupOf(name);
      return group === undefined ? nfc(name) === id : own.includes(group);
    });
  },
  membersOf(known: Directory | undefined, of: readonly string[]): string[] {
    const named = of.filter((name) => groupOf(name) === undefined);
    const others = Object.keys(known?.people ?? {}).filter((id) => naive.isOneOf(known, id, of));
    return [...new Set([...named, ...others].map((id) => nfc(id)))];
  },
  /** The owners of the seats that a person holds, and may use to approve. */
  owners({ delegations, allowSelf, callerUserId }: Panel, id: string, approves: boolean): string[] {
    const isOwn = !approves || allowSelf || callerUserId === null;
    return seatsOf(delegations, id)
      .filter((seat) => isOwn || !seat.includes(nfc(callerUserId)))
      .map(([owner]) => owner);
  },
  sits(thePanel: Panel, each: SeatedRequirement, id: string, approves: boolean, of: readonly string[]): boolean {
    const owners = naive.owners(thePanel, id, approves);
    return owners.some((owner) => of.length === 0 || naive.isOneOf(each.directory, owner, of));
  },
  entitlement(thePanel: Panel, { reviewerId, identity }: Ballot, approves: boolean): string | undefined {
    const { verified, delegations, requirements } = thePanel;
    if (verified && identity !== 'verified') return 'unverified_reviewer';
    const id = nfc(reviewerId!);
    if (seatsOf(delegations, id).length === 0) return 'not_entitled';
    const isAsked = (approving: boolean) =>
      requirements.some((each) => naive.sits(thePanel, each, id, approving, [...each.reviewers, ...each.oneOfEach]));
    if (!isAsked(false)) return 'not_entitled';
    return approves && !isAsked(true) ? 'self_approval' : undefined;
  },
  approversOf(thePanel: Panel, cast: readonly Ballot[]): string[] | undefined {
    const { requirements, delegations } = thePanel;
    if (requirements.some(({ reviewers, oneOfEach }) => reviewers.length + oneOfEach.length === 0)) return undefined;
    const asked = requirements.flatMap((each) =>
      naive.membersOf(each.directory, [...each.reviewers, ...each.oneOfEach]),
    );
    return [...new Set([...asked, ...delegations.map(({ to }) => nfc(to))])].filter(
      (id) =>
        naive.entitlement(thePanel, { reviewerId: id, identity: 'verified', approved: true }, true) === undefined &&
        !cast.some(({ reviewerId }) => nfc(reviewerId) === id),
    );
  },
  /** True if a vote is the first that counts of its voter. */
  counts(thePanel: Panel, vote: Ballot, cast: readonly Ballot[]): boolean {
    const own = cast.filter(({ reviewerId }) => nfc(reviewerId) === nfc(vote.reviewerId));
    return own.find((each) => naive.entitlement(thePanel, each, each.approved) === undefined) === vote;
  },
  /** Tries all people who have not denied, and every assignment of them to places. */
  canBeApproved(thePanel: Panel, cast: readonly Ballot[]): boolean {
    const { requirements, delegations } = thePanel;
    const denied = cast.filter((vote) => !vote.approved && naive.counts(thePanel, vote, cast));
    const deniers = denied.map(({ reviewerId }) => nfc(reviewerId));
    return requirements.every((each) => {
      const { reviewers, oneOfEach, quorum } = each;
      const of = [...reviewers, ...oneOfEach];
      if (of.length === 0) return true;
      const members = naive.membersOf(each.directory, of).map((id) => holder(delegations, id));
      const possible = [...new Set(members)].filter((id) => !deniers.includes(id));
      const fits = (id: string, wanted: readonly string[]) => naive.sits(thePanel, each, id, true, wanted);
      const fill = (places: readonly string[], free: readonly string[]): boolean =>
        places.length === 0 ||
        free.some(
          (id) =>
            fits(id, [places[0]!]) &&
            fill(
              places.slice(1),
              free.filter((other) => other !== id),
            ),
        );
      const quorumOf = reviewers.length > 0 ? reviewers : oneOfEach;
      return possible.filter((id) => fits(id, quorumOf)).length >= quorum && fill(oneOfEach, possible);
    });
  },
};

function holder(delegations: readonly Delegation[], owner: string): string {
  return people.map((id) => nfc(id)).find((id) => seatsOf(delegations, id).some(([first]) => first === owner))!;
}

const many = <Item>(count: number, of: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => of(index));
const crowdOf = (count: number): Directory => ({
  people: Object.fromEntries(many(count, (index) => [`p${index}`, { groups: ['g'], keys: [] }])),
});
const crowd = crowdOf(990);
const large = (names: number, known: Directory): Panel => ({
  requirements: many(40, (index) => ({
    reviewers: ['group:g', ...many(names, (other) => `group:h${other}`), `r${index}`],
    quorum: 1,
    oneOfEach: [],
    directory: known,
  })),
  veto: false,
  verified: false,
  allowSelf: false,
  callerUserId: null,
  delegations: [],
});

test('people and names are searched for a query in time that grows with their sum', () => {
  // If all names were read again for each person, four times as many of both would take sixteen times as long.
  const timed = (names: number) => {
    const panel = large(names, crowdOf(10 * names));
    return () => void approversOf(panel, []);
  };
  expect(growth(timed, 24)).toBeLessThan(squareGrowth);
});

test('a denial is counted with as many looks, however many others are asked', () => {
  const denials = many(100, (index): Ballot => ({ reviewerId: `p${index}`, identity: 'claimed', approved: false }));
  const looks = [200, 990].map((people) => {
    const holderOf = vi.spyOn(Seats.prototype, 'holderOf');
    expect(tally(large(46, crowdOf(people)), denials)).toEqual({ have: 0, need: 40 });
    const { length } = holderOf.mock.calls;
    holderOf.mockRestore();
    return length;
  });
  expect(looks[0]).toBeGreaterThan(0);
  expect(looks[1]).toBe(looks[0]);
});

test('more work than a query may do gives no approvers', () => {
  const named = (count: number) => many(count, (index) => `group:h${index}`);
  const panelOf = (count: number): Panel => ({
    ...large(46, crowd),
    requirements: [{ reviewers: named(count), quorum: 1, oneOfEach: [], directory: crowd }],
  });
  expect(approversOf(panelOf(5_000), [])).toEqual([]);
  expect(approversOf(panelOf(6_000), [])).toBeUndefined();
});
