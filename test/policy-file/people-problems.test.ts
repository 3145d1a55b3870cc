import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { membersOf } from '../../src/core/people/directory.ts';
import { tally } from '../../src/core/people/entitlement.ts';
import { formatProblems, parsePolicy } from '../../src/policy-file/parse-policy.ts';

const key = '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=';
const other = 'PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=';
const read = (text: string, ceiling: boolean) => parsePolicy(text, { ceiling });
const lines = (text: string, ceiling = true): string[] => {
  const parsed = read(text, ceiling);
  return 'problems' in parsed ? formatProblems('p.yaml', parsed.problems).split('\n') : [];
};

test('people and keys in their normal form: names in NFC, defaults filled in', () => {
  const text = `
directory: { people: { ann: { groups: [finance], keys: [k1] }, "rene\u0301": { groups: ["cafe\u0301"] } } }
reviewer_keys: { k1: ${key}, k2: { public_key: ${other}, operator: true }, k3: { public_key: ${key} }, g: { public_key: ${key}, signs_for: ["rene\u0301", 'group:finance'] } }
`;
  expect(read(text, true)).toMatchObject({
    policy: {
      directory: {
        people: { ann: { groups: ['finance'], keys: ['k1'] }, 'ren\u00e9': { groups: ['caf\u00e9'], keys: [] } },
      },
      reviewerKeys: {
        k1: { publicKey: key, operator: false },
        k2: { publicKey: other, operator: true },
        k3: { publicKey: key, operator: false },
        g: { publicKey: key, operator: false, signsFor: ['ren\u00e9', 'group:finance'] },
      },
    },
  });
});

describe('refused, with line and column', () => {
  test.each<[string, string, boolean, string]>([
    [
      'keys in a run',
      `version: 1\nreviewer_keys: { k1: ${key} }`,
      false,
      `2:1 'reviewer_keys' belongs in the ceiling, the policy given to createWorker`,
    ],
    [
      'a key that is not there',
      'directory: { people: { ann: { keys: [k1] } } }',
      true,
      `1:38 key 'k1' is not in 'reviewer_keys'`,
    ],
    [
      'a name of every object',
      `directory: { people: { ann: { keys: [constructor] } } }\nreviewer_keys: { k1: ${key} }`,
      true,
      `1:38 key 'constructor' is not in 'reviewer_keys'`,
    ],
    [
      'two people’s key',
      'directory: { people: { ann: { keys: [k1] }, bob: { keys: [k1] } } }',
      false,
      `1:59 key 'k1' is that of 'ann': a key is one person's`,
    ],
    [
      'a key that signs for others and is a person’s own',
      `directory: { people: { ann: { keys: [k1] } } }\nreviewer_keys: { k1: { public_key: ${key}, signs_for: ['*'] } }`,
      true,
      `1:38 key 'k1' signs for others ('signs_for'): it cannot be a person's own`,
    ],
    [
      'a key that signs for nobody',
      `reviewer_keys: { k1: { public_key: ${key}, signs_for: [] } }`,
      true,
      `1:93 'signs_for' must not be empty`,
    ],
    [
      'a person twice',
      'directory: { people: { "ren\u00e9": {}, "rene\u0301": {} } }',
      true,
      `1:36 'rene\u0301' appears twice, in two spellings`,
    ],
    [
      'a person twice, in other letters',
      'directory: { people: { ann@acme.com: {}, Ann@Acme.com: {} } }',
      true,
      `1:42 'Ann@Acme.com' appears twice, in two spellings`,
    ],
    [
      'an id of two people',
      'directory: { people: { ann: { also: [u-1] }, bob: { also: [u-2, U-1] } } }',
      true,
      `1:65 'U-1' is 'ann' already: an id is one person's`,
    ],
    [
      'an id that is another person',
      'directory: { people: { ann: { also: [Bob] }, bob: {} } }',
      true,
      `1:38 'Bob' is 'bob' already: an id is one person's`,
    ],
    [
      'an id of their own twice',
      'directory: { people: { ann: { also: [u-1, Ann] } } }',
      true,
      `1:43 'Ann' is an id of 'ann' already`,
    ],
    [
      'an id that is a group',
      'directory: { people: { ann: { also: ["group:a"] } } }',
      true,
      `1:38 'also' item 1 must not begin with group:`,
    ],
    [
      'further ids below the ceiling',
      'directory: { people: { ann: { also: [u-1] } } }',
      false,
      `1:31 'also' belongs in the ceiling, the policy given to createWorker: only the operator says who a person is`,
    ],
    [
      'a name to show below the ceiling',
      'directory: { people: { ann: { name: Ann Lee } } }',
      false,
      `1:31 'name' belongs in the ceiling, the policy given to createWorker: only the operator says who a person is`,
    ],
    [
      'an absence that ends before it begins',
      'directory: { people: { ann: { away: [{ from: 2030-01-02, until: 2030-01-01, deputy: bob }] } } }',
      true,
      `1:65 'until' must come after 'from'`,
    ],
    [
      'no day',
      'directory: { people: { ann: { away: [{ from: 2030-02-31x, until: 2030-03-01, deputy: bob }] } } }',
      true,
      `1:46 'from' must be a day, such as 2030-01-31, or an instant with its offset`,
    ],
    [
      'a deputy of themselves',
      'directory: { people: { ann: { also: [u-1], away: [{ from: 2030-01-01, until: 2030-01-01, deputy: U-1 }] } } }',
      true,
      `1:98 'ann' cannot be their own deputy`,
    ],
    [
      'an absence below the ceiling',
      'directory: { people: { ann: { away: [{ from: 2030-01-01, until: 2030-01-01, deputy: bob }] } } }',
      false,
      `1:31 'away' belongs in the ceiling, the policy given to createWorker: only the operator says who a person is`,
    ],
    [
      'revoked below the ceiling',
      'revoked: { people: [ann] }',
      false,
      `1:1 'revoked' belongs in the ceiling, the policy given to createWorker`,
    ],
    [
      'a person called like a group',
      'directory: { people: { "group:a": {} } }',
      true,
      `1:24 the name 'group:a' must not begin with group:`,
    ],
    [
      'a person called like nothing',
      'directory: { people: { __proto__: {} } }',
      true,
      `1:24 '__proto__' cannot be a name`,
    ],
    [
      'a group written like a reviewer',
      'directory: { people: { ann: { groups: ["group:a"] } } }',
      true,
      `1:40 'groups' item 1 is written without group: here`,
    ],
    [
      'a key that is no key',
      'reviewer_keys: { k1: abcd }',
      true,
      `1:22 'k1' must be an Ed25519 public key: its 32 bytes in base64`,
    ],
    [
      'a weak key',
      'reviewer_keys: { k1: AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= }',
      true,
      `1:22 'k1' must be an Ed25519 public key: its 32 bytes in base64`,
    ],
    [
      'a key that is no key, written out',
      'reviewer_keys: { k1: { public_key: abcd } }',
      true,
      `1:36 'public_key' must be an Ed25519 public key: its 32 bytes in base64`,
    ],
    ['no key', 'reviewer_keys: { k1: { operator: true } }', true, `1:22 'public_key' is missing`],
    ['neither', 'reviewer_keys: { k1: 5 }', true, `1:22 'k1' must be a map or a text, not 5`],
    [
      'an unknown key of a key',
      `reviewer_keys: { k1: { public_key: ${key}, admin: true } }`,
      true,
      `1:82 unknown key 'admin'; known here are public_key, operator, signs_for`,
    ],
    [
      'an id that is none',
      `reviewer_keys: { "a b": ${key} }`,
      true,
      `1:18 the name 'a b' must be 1 to 64 letters, digits, dots, hyphens and underscores`,
    ],
    [
      'an unknown key of a person',
      'directory: { people: { ann: { group: [a] } } }',
      true,
      `1:31 unknown key 'group'; known here are groups, keys, name, also, away`,
    ],
    ['no people', 'directory: {}', true, `1:12 'people' is missing`],
  ])('%s', (_, text, ceiling, expected) => expect(lines(text, ceiling)).toEqual([`p.yaml:${expected}`]));

  test('a person may list a key twice', () => {
    expect(lines('directory: { people: { ann: { keys: [k1, k1] } } }', false)).toEqual([]);
  });

  test('more people than a run can carry', () => {
    const people = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`p${at}`, {}]));
    expect(lines(JSON.stringify({ directory: { people } }))).toEqual([
      `p.yaml:1:24 'people' must name at most 1000 people`,
    ]);
  });
});

const directory = 'directory: { people: { ann: { groups: [f, g] }, bob: { groups: [f] } } }';
const asks = (ask: string): string => `rules: [{ pattern: a, action: ask, ask: { ${ask} } }]`;
describe('approvals that are never possible', () => {
  test.each<[string, string, string[]]>([
    ['as many as there are', `${asks("reviewers: ['group:f'], quorum: 2")}\n${directory}`, []],
    [
      'more than the group has',
      `${asks("reviewers: ['group:f'], quorum: 3")}\n${directory}`,
      [`1:75 'quorum' is 3, of 2 reviewers`],
    ],
    [
      'a person and their group',
      `${asks("reviewers: ['group:f', ann], quorum: 3")}\n${directory}`,
      [`1:80 'quorum' is 3, of 2 reviewers`],
    ],
    [
      'those added later count',
      `${asks("reviewers: ['group:f'], quorum: 3, escalate: [{ after: 5m, to: [zoe] }]")}\n${directory}`,
      [],
    ],
    ['more people than are named', asks('reviewers: [ann, ann], quorum: 2'), [`1:74 'quorum' is 2, of 1 reviewer`]],
    ['groups that another policy may fill', asks("reviewers: ['group:f'], quorum: 9"), []],
    ['a quorum of anyone', `${asks('quorum: 9')}\n${directory}`, []],
    [
      'a quorum of those of one of each',
      `${asks("one_of_each: ['group:f'], quorum: 3")}\n${directory}`,
      [`1:77 'quorum' is 3, of 2 reviewers`],
    ],
    ['a group nobody is in is a warning', `${asks("reviewers: ['group:cfo']")}\n${directory}`, []],
    [
      'but not a quorum of it',
      `${asks("reviewers: ['group:cfo'], quorum: 1")}\n${directory}`,
      [`1:77 'quorum' is 1, of 0 reviewers`],
    ],
    ['one of each, each by another', `${asks("one_of_each: ['group:f', 'group:g']")}\n${directory}`, []],
    [
      'one of each, by one person',
      `${asks("one_of_each: ['group:g', ann]")}\n${directory}`,
      [`1:56 'one_of_each' needs 2 people, each for one of these, of 1 reviewer`],
    ],
    [
      'one of each, the same person twice',
      asks('one_of_each: [ann, ann]'),
      [`1:56 'one_of_each' needs 2 people, each for one of these, of 1 reviewer`],
    ],
    ['one of each, where nobody is in one', `${asks("one_of_each: ['group:cfo', ann]")}\n${directory}`, []],
    [
      'in an agent’s block',
      `agents: { x: { ${asks("reviewers: ['group:f'], quorum: 3")} } }\n${directory}`,
      [`1:90 'quorum' is 3, of 2 reviewers`],
    ],
  ])('%s', (_, text, expected) => {
    expect(lines(text, false)).toEqual(expected.map((line) => `p.yaml:${line}`));
  });
});

test('law: a rule loads exactly if the approval of everybody it knows would be enough', () => {
  const people = ['ann', 'bob', 'carl', 'dora'];
  const groups = fc.uniqueArray(fc.constantFrom('f', 'g'), { maxLength: 2 });
  const names = fc.array(fc.constantFrom('group:f', 'group:g', ...people, 'zoe'), { minLength: 1, maxLength: 3 });
  const document = fc.record({
    ask: fc.record(
      { quorum: fc.integer({ min: 1, max: 5 }), reviewers: names, one_of_each: names },
      { requiredKeys: ['quorum'] },
    ),
    memberships: fc.tuple(groups, groups, groups, groups),
  });
  let refused = 0;
  fc.assert(
    fc.property(document, ({ ask, memberships }) => {
      const directory = {
        people: Object.fromEntries(people.map((name, at) => [name, { groups: memberships[at]!, keys: [] }])),
      };
      const { quorum, reviewers = [], one_of_each: oneOfEach = [] } = ask;
      // A group that others may fill is only a warning, and unnamed reviewers may be many.
      fc.pre(oneOfEach.every((name) => membersOf(directory, [name]).length > 0));
      fc.pre(reviewers.length + oneOfEach.length > 0);
      const parsed = parsePolicy({ rules: [{ pattern: 'a', action: 'ask', ask }], directory });
      const panel = {
        requirements: [{ reviewers, quorum, oneOfEach, directory }],
        veto: true,
        verified: false,
        allowSelf: false,
        callerUserId: null,
        delegations: [],
      };
      const all = [...people, 'zoe'].map((reviewerId) => ({
        reviewerId,
        identity: 'claimed' as const,
        approved: true,
      }));
      expect('policy' in parsed).toBe(tally(panel, all).outcome === 'approved');
      if ('problems' in parsed) refused += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(refused).toBeGreaterThan(50);
  expect(refused).toBeLessThan(950);
});
