/** Laws for every panel and every vote. */
import { expect, test } from 'vitest';
import fc from 'fast-check';
import type { Delegation } from '../../../src/core/people/delegation.ts';
import { cannotBeApproved } from '../../../src/core/people/cannot-be-approved.ts';
import { isOneOf, personKeyIn, type Directory } from '../../../src/core/people/directory.ts';
import {
  approversOf,
  entitlement,
  tally,
  type Ballot,
  type Panel,
  type SeatedRequirement,
} from '../../../src/core/people/entitlement.ts';
import { least, runs } from '../../support/thorough.ts';

const people = ['ann', 'bob', 'carl', 'dora', 'eve'];
const person = fc.constantFrom(...people);
const groups = fc.uniqueArray(fc.constantFrom('g', 'h'), { maxLength: 2 });
/** Everybody is in the directory, so that every known person is one of `people`. */
const directory: fc.Arbitrary<Directory> = fc
  .tuple(...people.map(() => groups))
  .map((all) => ({ people: Object.fromEntries(people.map((id, at) => [id, { groups: all[at]!, keys: [] }])) }));
const names = fc.array(fc.constantFrom('group:g', 'group:h', ...people), { maxLength: 3 });
const requirement: fc.Arbitrary<SeatedRequirement> = fc.record({
  reviewers: names,
  quorum: fc.constantFrom(1, 1, 2, 3),
  oneOfEach: names,
  directory: fc.option(directory, { nil: undefined, freq: 8 }),
});
const delegations = fc.array(fc.record({ from: person, to: person }), { maxLength: 4 });
const panel: fc.Arbitrary<Panel> = fc.record({
  requirements: fc.oneof(fc.tuple(requirement), fc.array(requirement, { minLength: 1, maxLength: 2 })),
  veto: fc.boolean(),
  verified: fc.boolean(),
  allowSelf: fc.boolean(),
  callerUserId: fc.option(person, { nil: null }),
  delegations,
});
const vote: fc.Arbitrary<Ballot> = fc
  .record({
    reviewerId: fc.option(person, { nil: undefined, freq: 8 }),
    verified: fc.boolean(),
    approved: fc.constantFrom(true, true, false),
  })
  .map(({ reviewerId, verified, approved }) =>
    reviewerId === undefined
      ? { identity: 'anonymous', approved }
      : { reviewerId, identity: verified ? 'verified' : 'claimed', approved },
  );
const votes = fc.array(vote, { maxLength: 7 });

/** The final holder of each seat and everybody who held it: seats are tokens that move. */
function seats(given: readonly Delegation[]): { owner: string; hands: string[] }[] {
  const all = people.map((owner) => ({ owner, hands: [owner] }));
  const sentTo = new Map<string, string>();
  for (const { from, to } of given) {
    const onward = [to];
    while (sentTo.has(onward.at(-1)!)) onward.push(sentTo.get(onward.at(-1)!)!);
    if (sentTo.has(from) || onward.includes(from)) continue;
    sentTo.set(from, to);
    for (const seat of all) if (seat.hands.at(-1) === from) seat.hands.push(...onward);
  }
  return all;
}

/** Naive version: tries every assignment of places, and every set of people who might still approve. */
function naive(thePanel: Panel, cast: readonly Ballot[]): 'approved' | 'denied' | undefined {
  const { requirements, veto, verified, allowSelf, callerUserId } = thePanel;
  const tokens = seats(thePanel.delegations);
  const held = (id: string, approves: boolean) =>
    id === ''
      ? ['']
      : tokens
          .filter(({ hands }) => hands.at(-1) === id)
          .filter(({ hands }) => !approves || allowSelf || callerUserId === null || !hands.includes(callerUserId))
          .map(({ owner }) => owner);
  const named = requirements.some((each) => each.quorum > 1 || each.reviewers.length > 0 || each.oneOfEach.length > 0);
  const sits = (each: SeatedRequirement, id: string, approves: boolean, of: readonly string[]) =>
    held(id, approves).some((owner) => of.length === 0 || isOneOf(each.directory, owner, of));
  const counted = new Map<string, boolean>();
  for (const { reviewerId = '', identity, approved } of cast) {
    if (counted.has(reviewerId) || (verified && identity !== 'verified') || (named && reviewerId === '')) continue;
    if (!requirements.some((each) => sits(each, reviewerId, approved, [...each.reviewers, ...each.oneOfEach])))
      continue;
    counted.set(reviewerId, approved);
  }
  const canFill = (each: SeatedRequirement, places: readonly string[], free: readonly string[]): boolean =>
    places.length === 0 ||
    free.some(
      (id) =>
        sits(each, id, true, [places[0]!]) &&
        canFill(
          each,
          places.slice(1),
          free.filter((other) => other !== id),
        ),
    );
  const met = (each: SeatedRequirement, approving: readonly string[]) => {
    const quorumOf = each.reviewers.length > 0 ? each.reviewers : each.oneOfEach;
    return (
      approving.filter((id) => sits(each, id, true, quorumOf)).length >= each.quorum &&
      canFill(each, each.oneOfEach, approving)
    );
  };
  const approving = [...counted].flatMap(([id, approved]) => (approved ? [id] : []));
  const denied = [...counted.values()].includes(false);
  if (denied && veto) return 'denied';
  if (requirements.every((each) => met(each, approving))) return 'approved';
  const free = people.filter((id) => !counted.has(id));
  const subsets = free.reduce<string[][]>((all, id) => [...all, ...all.map((some) => [...some, id])], [[]]);
  const reachable = requirements.every(
    (each) =>
      each.reviewers.length + each.oneOfEach.length === 0 ||
      subsets.some((some) => met(each, [...approving, ...some.filter((id) => isKnown(each, id))])),
  );
  return denied && !reachable ? 'denied' : undefined;

  /** True if the person holds the seat of somebody whom the requirement knows. */
  function isKnown(each: SeatedRequirement, id: string): boolean {
    return tokens.some(
      ({ owner, hands }) =>
        hands.at(-1) === id && isOneOf(each.directory, owner, [...each.reviewers, ...each.oneOfEach]),
    );
  }
}

test('tally agrees with the naive version on random panels', () => {
  const seen = new Map<string | undefined, number>();
  fc.assert(
    fc.property(panel, votes, (thePanel, cast) => {
      const { outcome } = tally(thePanel, cast);
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      expect(outcome).toBe(naive(thePanel, cast));
    }),
    { numRuns: runs(2_000) },
  );
  // Each answer must occur often.
  for (const outcome of ['approved', 'denied', undefined]) expect(seen.get(outcome)).toBeGreaterThan(least(60));
});

/** The operator's directory: each person has two ids more. */
const keyOf = personKeyIn({
  people: Object.fromEntries(people.map((id) => [id, { also: [`u-${id}`, `${id}@acme.com`] }])),
});
/** The same person as other people, programs, providers and keyboards write them. */
const spelled = (name: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    name,
    name.toUpperCase(),
    `${name[0]!.toUpperCase()}${name.slice(1)}`,
    `${name}\u200b`,
    ` ${name}`,
    `u-${name}`,
    `${name}@Acme.com`,
  );
const spelledAs = (names: readonly string[]): fc.Arbitrary<string[]> =>
  fc.tuple(...names.map((name) => (name.startsWith('group:') ? fc.constant(name) : spelled(name))));
const spelledIn = (of: Directory | undefined): fc.Arbitrary<Directory | undefined> =>
  of === undefined
    ? fc.constant(of)
    : fc
        .tuple(...people.map(spelled))
        .map((ids) => ({ people: Object.fromEntries(people.map((id, at) => [ids[at]!, of.people[id]!])) }));
const otherSpelling = fc.tuple(panel, votes).chain(([thePanel, cast]) => {
  const { requirements, callerUserId, delegations: given } = thePanel;
  return fc
    .record({
      reviewers: fc.tuple(...requirements.map((each) => spelledAs(each.reviewers))),
      oneOfEach: fc.tuple(...requirements.map((each) => spelledAs(each.oneOfEach))),
      callerUserId: callerUserId === null ? fc.constant(null) : spelled(callerUserId),
      directories: fc.tuple(...requirements.map((each) => spelledIn(each.directory))),
      delegations: fc.tuple(...given.map(({ from, to }) => fc.record({ from: spelled(from), to: spelled(to) }))),
      voters: fc.tuple(...cast.map(({ reviewerId }) => (reviewerId ? spelled(reviewerId) : fc.constant(reviewerId)))),
    })
    .map(({ reviewers, oneOfEach, voters, directories, ...more }) => ({
      before: { thePanel: { ...thePanel, keyOf }, cast },
      after: {
        thePanel: {
          ...thePanel,
          ...more,
          keyOf,
          requirements: requirements.map((each, at) => ({
            ...each,
            reviewers: reviewers[at]!,
            oneOfEach: oneOfEach[at]!,
            directory: directories[at]!,
          })),
        },
        cast: cast.map((each, at) => ({ ...each, ...(voters[at] !== undefined && { reviewerId: voters[at] }) })),
      },
    }));
});

test('law: it makes no difference how anybody is written', () => {
  const seen = new Map<string | undefined, number>();
  fc.assert(
    fc.property(otherSpelling, ({ before, after }) => {
      const { outcome } = tally(before.thePanel, before.cast);
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      expect(tally(after.thePanel, after.cast)).toEqual(tally(before.thePanel, before.cast));
      const problems = ({ thePanel, cast }: typeof before): (string | undefined)[] =>
        cast.map((each) => entitlement(thePanel, each, each.approved)?.code);
      expect(problems(after)).toEqual(problems(before));
      expect(approversOf(after.thePanel, after.cast)?.map(keyOf).sort()).toEqual(
        approversOf(before.thePanel, before.cast)?.map(keyOf).sort(),
      );
    }),
    { numRuns: runs(2_000) },
  );
  for (const outcome of ['approved', 'denied', undefined]) expect(seen.get(outcome)).toBeGreaterThan(least(60));
});

const impossibleOrNot = fc
  .record({
    thePanel: panel,
    cast: votes,
    keys: fc.uniqueArray(person),
    hasKeys: fc.boolean(),
  })
  .map(({ thePanel, cast, keys, hasKeys }) => {
    const canVerify = (key: string): boolean => keys.includes(key);
    return {
      thePanel: { ...thePanel, ...(hasKeys && { canVerify }) },
      cast: cast.filter(
        ({ identity, reviewerId = '' }) => !hasKeys || identity !== 'verified' || canVerify(reviewerId),
      ),
      able: people.filter((id) => !hasKeys || canVerify(id)),
    };
  });

test('law: a request is called impossible if and only if it stays open when all who can approve do', () => {
  const seen = { possible: 0, impossible: 0 };
  fc.assert(
    fc.property(impossibleOrNot, ({ thePanel, cast, able }) => {
      fc.pre(tally(thePanel, cast).outcome === undefined);
      const why = cannotBeApproved(thePanel, cast);
      // Where a requirement names nobody, anybody may vote, known or not.
      const others = [...people, 'x', 'y', 'z'].map((reviewerId): Ballot => ({
        reviewerId,
        identity: people.includes(reviewerId) && !able.includes(reviewerId) ? 'claimed' : 'verified',
        approved: true,
      }));
      const { outcome } = tally(thePanel, [...cast, ...others]);
      expect(why === undefined).toBe(outcome === 'approved');
      seen[why === undefined ? 'possible' : 'impossible'] += 1;
    }),
    { numRuns: runs(2_000) },
  );
  expect(Math.min(seen.possible, seen.impossible)).toBeGreaterThan(least(100));
});

test('an additional approval never undoes an approval, and never lowers the count', () => {
  fc.assert(
    fc.property(panel, votes, vote, (thePanel, cast, more) => {
      const before = tally(thePanel, cast);
      const after = tally(thePanel, [...cast, { ...more, approved: true }]);
      expect(after.have).toBeGreaterThanOrEqual(before.have);
      if (before.outcome !== undefined) expect(after.outcome).toBe(before.outcome);
    }),
    { numRuns: runs(1_000) },
  );
});

test('an additional denial never approves', () => {
  fc.assert(
    fc.property(panel, votes, vote, (thePanel, cast, more) => {
      const before = tally(thePanel, cast);
      const after = tally(thePanel, [...cast, { ...more, approved: false }]);
      expect(after.have).toBe(before.have);
      if (before.outcome !== 'approved') expect(after.outcome).not.toBe('approved');
    }),
    { numRuns: runs(1_000) },
  );
});

test('one person never counts twice', () => {
  fc.assert(
    fc.property(panel, votes, (thePanel, cast) => {
      const twice = cast.flatMap((each) => [each, { ...each, approved: !each.approved }, each]);
      const counts = (each: Ballot) => entitlement(thePanel, each, each.approved) === undefined;
      fc.pre(cast.every(counts));
      expect(tally(thePanel, twice)).toEqual(tally(thePanel, cast));
    }),
    { numRuns: runs(1_000) },
  );
});

test('fewer people than places never approve, whatever seats they hold', () => {
  fc.assert(
    fc.property(panel, votes, (thePanel, cast) => {
      const persons = new Set(cast.filter(({ approved }) => approved).map(({ reviewerId }) => reviewerId)).size;
      const places = thePanel.requirements.map(({ quorum, oneOfEach }) => Math.max(quorum, oneOfEach.length));
      if (persons < Math.max(...places)) expect(tally(thePanel, cast).outcome).not.toBe('approved');
    }),
    { numRuns: runs(1_000) },
  );
});

test('a person who delegated has no vote, whatever they do', () => {
  fc.assert(
    fc.property(panel, votes, person, person, fc.boolean(), (thePanel, cast, from, to, approved) => {
      fc.pre(from !== to);
      const given = { ...thePanel, delegations: [{ from, to }, ...thePanel.delegations] };
      const vote = { reviewerId: from, identity: 'verified' as const, approved };
      expect(entitlement(given, vote, approved)?.code).toBe('not_entitled');
      expect(tally(given, [vote, ...cast])).toEqual(
        tally(
          given,
          cast.filter(({ reviewerId }) => reviewerId !== from),
        ),
      );
    }),
    { numRuns: runs(1_000) },
  );
});

test('neither the person who started the run nor anybody with a seat that they held can approve', () => {
  fc.assert(
    fc.property(panel, person, votes, (anyPanel, callerUserId, cast) => {
      const thePanel = { ...anyPanel, callerUserId, allowSelf: false };
      const own = { reviewerId: callerUserId, identity: 'verified' as const };
      expect(entitlement(thePanel, own, true)).toBeDefined();
      // As if no requirement knew the owners of the seats that the caller held.
      const tainted = seats(thePanel.delegations).flatMap(({ owner, hands }) =>
        hands.includes(callerUserId) ? [owner] : [],
      );
      const requirements = thePanel.requirements.map((each) => tainted.reduce(without, each));
      const approvals = cast.filter(({ approved }) => approved);
      fc.pre(requirements.every(({ reviewers, oneOfEach }) => reviewers.length + oneOfEach.length > 0));
      expect(tally(thePanel, approvals)).toEqual(tally({ ...thePanel, callerUserId: null, requirements }, approvals));
    }),
    { numRuns: runs(1_000) },
  );
});

/** The requirement without that person: in no group and under no name. */
function without(
  { directory: known, reviewers, oneOfEach, ...rest }: SeatedRequirement,
  id: string,
): SeatedRequirement {
  const renamed = (all: readonly string[]) => all.map((name) => (name === id ? 'nobody' : name));
  const { [id]: _, ...others } = known?.people ?? {};
  return {
    ...rest,
    reviewers: renamed(reviewers),
    oneOfEach: renamed(oneOfEach),
    directory: known && { people: others },
  };
}

test('with a veto, one counted denial settles', () => {
  fc.assert(
    fc.property(panel, votes, vote, (thePanel, cast, more) => {
      const denial = { ...more, approved: false };
      fc.pre(entitlement(thePanel, denial, false) === undefined);
      fc.pre(!cast.some(({ reviewerId }) => reviewerId === denial.reviewerId));
      expect(tally({ ...thePanel, veto: true }, [...cast, denial]).outcome).toBe('denied');
    }),
    { numRuns: runs(1_000) },
  );
});

test('all places are filled exactly if every requirement is met', () => {
  fc.assert(
    fc.property(panel, votes, (thePanel, cast) => {
      const { outcome, have, need } = tally({ ...thePanel, veto: false }, cast);
      expect(have).toBeGreaterThanOrEqual(0);
      expect(outcome === 'approved').toBe(have === need);
    }),
    { numRuns: runs(1_000) },
  );
});
