import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { askTermsOf } from '../../src/core/policy/ask-terms.ts';
import { absentReads } from '../../src/policy-file/absent-reads.ts';
import { explain } from '../../src/policy-file/explain.ts';
import { lintPolicy } from '../../src/policy-file/lint-policy.ts';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';
import type { Policy, Rule } from '../../src/core/policy/policy.ts';
import { compilePolicy, evaluate, type RuledCall } from '../../src/core/policy/ruling.ts';
import { call, policy as anyPolicy } from '../core/generate.ts';
import { least, runs } from '../support/thorough.ts';

const policy = (text: string, ceiling = false): Policy => {
  const parsed = parsePolicy(text, { ceiling });
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  return parsed.policy;
};
const messages = (text: string, of?: 'ceiling' | 'agent' | 'run'): string[] =>
  lintPolicy(policy(text, of === 'ceiling'), { ...(of && { of }) }).map(({ message }) => message);
/** Which calls a time-out may allow. */
const harmless = 'if its severity is safe or low and its risk is read_only or write';

describe('rules that can never decide', () => {
  test.each<[string, string, boolean]>([
    ['the same pattern', '{ pattern: a, action: allow }, { pattern: a, action: deny }', true],
    ['everything', '{ pattern: "a:b*", action: allow }, { pattern: "*", action: deny }', true],
    ['a wider name', '{ pattern: send_mail, action: allow }, { pattern: "send_*", action: deny }', true],
    ['a wider glob', '{ pattern: "s*mail*x", action: allow }, { pattern: "s*mail*", action: deny }', true],
    ['wider arguments', '{ pattern: "bash:git log*", action: allow }, { pattern: "bash:git *", action: deny }', true],
    ['no arguments asked', '{ pattern: "bash:git log*", action: allow }, { pattern: bash, action: deny }', true],
    ['a condition more', '{ pattern: a, when: "args.x > 1", action: allow }, { pattern: a, action: deny }', true],
    [
      'the same condition',
      '{ pattern: a, when: "risk == tool", action: ask }, { pattern: a, when: "risk == tool", action: deny }',
      true,
    ],
    [
      'the same globs',
      '{ pattern: a, args: { x: y, z: w }, action: ask }, { pattern: a, args: { x: y }, action: deny }',
      true,
    ],
    ['the wider one first', '{ pattern: "*", action: deny }, { pattern: a, action: allow }', false],
    ['another name', '{ pattern: a, action: allow }, { pattern: b, action: deny }', false],
    [
      'narrower arguments',
      '{ pattern: "bash:git *", action: allow }, { pattern: "bash:git log*", action: deny }',
      false,
    ],
    [
      'a condition over it',
      '{ pattern: a, action: allow }, { pattern: a, when: "has(args.x) && args.x > 1", action: deny }',
      false,
    ],
    [
      'other globs',
      '{ pattern: a, args: { x: y }, action: allow }, { pattern: a, args: { x: z }, action: allow }',
      false,
    ],
    ['a class that may be wider', '{ pattern: "[ab]", action: allow }, { pattern: "[abc]", action: deny }', false],
    ['a class of a star', '{ pattern: "?a", action: allow }, { pattern: "[!*]a", action: deny }', false],
    ['a literal inside a class', '{ pattern: "[ab]", action: allow }, { pattern: "*ab*", action: deny }', false],
    ['a literal across a wildcard', '{ pattern: "a*b", action: allow }, { pattern: "*ab*", action: deny }', false],
    [
      'lists, of which an allow has to match each',
      '{ pattern: "w:a", action: deny }, { pattern: "w:a", action: allow }',
      false,
    ],
    ['each tool', '{ pattern: "w:a", action: deny }, { pattern: "w", action: allow }', true],
    ['a slash', '{ pattern: "w:a/b", action: allow }, { pattern: "w:*/b", action: deny }', true],
  ])('%s', (_, rules, warned) => expect(messages(`rules: [${rules}]`).length > 0).toBe(warned));

  test.each([
    ['deny', 'rule run#1 can never decide: rule run#2 matches all it matches, and comes later'],
    ['allow', 'rule run#1 is not needed: rule run#2 matches all it matches, and comes later'],
  ])('an allow is overridden by %s', (action, message) => {
    expect(messages(`rules: [{ pattern: a, action: allow }, { pattern: "*", action: ${action} }]`)).toEqual([message]);
  });

  test("an agent's rule overrides earlier rules, but only for its agent", () => {
    const agents =
      'agents: { x: { rules: [{ pattern: "*", action: deny }] }, y: { rules: [{ pattern: a, action: allow }] } }';
    expect(messages(`rules: [{ pattern: a, action: allow }]\n${agents}`)).toEqual([]);
    expect(messages('agents: { x: { rules: [{ pattern: a, action: ask }, { pattern: "*", action: deny }] } }')).toEqual(
      ['rule run.x#1 can never decide: rule run.x#2 matches all it matches, and comes later'],
    );
  });

  test('law: removing a rule with a warning changes no answer', () => {
    fc.assert(
      fc.property(anyPolicy, call, (thePolicy, theCall) => {
        const warning = lintPolicy(thePolicy).find(({ message }) => /can never decide|is not needed/.test(message));
        fc.pre(warning?.index !== undefined);
        const rules = thePolicy.rules.toSpliced(warning.index, 1);
        const { ruling, matches } = explain({ run: compilePolicy(thePolicy, 'run') }, theCall);
        // If a rule cannot be evaluated, every matching deny counts, wherever it stands.
        fc.pre(matches.every(({ matched }) => matched !== 'error'));
        expect(evaluate({ run: compilePolicy({ ...thePolicy, rules }, 'run') }, theCall).action).toBe(ruling.action);
      }),
      { numRuns: runs(2_000) },
    );
  });
});

const people = 'directory: { people: { ann: { groups: [finance] }, bob: {} } }';
const asks = (ask: string) => `rules: [{ id: r, pattern: a, action: ask, ask: { ${ask} } }]`;
const key = '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=';

describe('people', () => {
  test.each<[string, string, 'ceiling' | 'agent' | 'run', string[]]>([
    ['all known', `${people}\n${asks("reviewers: [bob, 'group:finance']")}`, 'run', []],
    [
      'a person nobody knows',
      `${people}\n${asks('reviewers: [ann, zoe]')}`,
      'run',
      ["rule r asks 'zoe', and the directory does not have that person"],
    ],
    [
      'a group without anybody',
      `${people}\n${asks("one_of_each: ['group:legal', ann]")}`,
      'ceiling',
      ["rule r asks 'group:legal', and that group is empty in the directory"],
    ],
    [
      'added later',
      `${people}\n${asks("reviewers: [ann], escalate: [{ after: 2m, to: ['group:cfo'] }]")}`,
      'run',
      ["rule r asks 'group:cfo', and that group is empty in the directory"],
    ],
    [
      'named twice, told once',
      `${people}\n${asks('reviewers: [zoe], one_of_each: [zoe]')}`,
      'run',
      ["rule r asks 'zoe', and the directory does not have that person"],
    ],
    [
      'a name of every object',
      `${people}\n${asks('reviewers: [ann, constructor]')}`,
      'run',
      ["rule r asks 'constructor', and the directory does not have that person"],
    ],
    ['a run’s group may be the ceiling’s', asks("reviewers: ['group:finance']"), 'run', []],
    [
      'a ceiling’s may not be anybody’s',
      asks("reviewers: ['group:finance', zoe]"),
      'ceiling',
      ["rule r asks 'group:finance', and the policy has no directory"],
    ],
    ['names need no directory', asks('reviewers: [zoe]'), 'ceiling', []],
    [
      'a key that signs for everybody, for the known and for the unknown',
      `${people}\nreviewer_keys: { k1: { public_key: ${key}, signs_for: ['*'] }, k2: { public_key: ${key}, signs_for: [ann, zoe, 'group:none'] } }`,
      'ceiling',
      [
        "key 'k2' signs for 'zoe', and the directory does not have that person",
        "key 'k2' signs for 'group:none', and that group is empty in the directory",
      ],
    ],
    [
      'a key that is nobody’s',
      `${people}\nreviewer_keys: { k1: ${key} }`,
      'ceiling',
      ["key 'k1' belongs to no person in the directory: it signs nothing"],
    ],
    [
      'a revoked person by an id that the directory has, and by one that it has not',
      `directory: { people: { ann: { also: [u-17] } } }\nrevoked: { people: [U-17, zoe] }`,
      'ceiling',
      ["revoked: the directory does not know 'zoe', so other ids of that person still count"],
    ],
    [
      'an operator’s key that is nobody’s',
      `reviewer_keys: { k1: { public_key: ${key}, operator: true } }`,
      'ceiling',
      [],
    ],
    ['somebody’s key', `directory: { people: { ann: { keys: [k1] } } }\nreviewer_keys: { k1: ${key} }`, 'ceiling', []],
    [
      'people who look alike',
      'directory: { people: { Capa: {}, Сара: {}, José: {}, Jose: {} } }',
      'ceiling',
      [String.raw`'\u{0421}\u{0430}\u{0440}\u{0430}' looks like 'Capa', and the directory has both`],
    ],
    [
      'keys of a run’s people',
      'directory: { people: { ann: { keys: [k1] } } }',
      'run',
      ["the keys of 'ann' do not count: only those in the ceiling's directory do"],
    ],
  ])('%s', (_, text, of, expected) => expect(messages(text, of)).toEqual(expected));

  test('a warning about a rule names it', () => {
    const [warning] = lintPolicy(policy(`${people}\n${asks('reviewers: [zoe]')}`));
    expect(warning).toMatchObject({ index: 0, rule: 'r' });
  });
});

test.each<[string, string, 'ceiling' | 'agent' | 'run', string[]]>([
  [
    'a grant on a denied tool',
    'rules: [{ id: asks, pattern: a, action: ask, ask: { always: tool } }, { id: no, pattern: "*", action: deny }]',
    'run',
    ['rule asks offers grants for calls that rule no denies: a grant never touches a deny'],
  ],
  [
    'a time-out that allows, in a rule',
    'rules: [{ pattern: a, action: ask, ask: { on_timeout: allow } }]',
    'ceiling',
    [
      `rule ceiling#1 lets an unanswered call run, ${harmless}, and if each other policy of the run says so: else it is denied`,
    ],
  ],
  [
    'a time-out that allows',
    'approval: { on_timeout: allow }',
    'run',
    [
      `'approval.on_timeout' lets an unanswered call run, ${harmless}, and if the ceiling and each other policy of the run say so: else it is denied`,
    ],
  ],
  ['a time-out that denies', 'approval: { on_timeout: deny }', 'run', []],
  [
    'a deny of an agent',
    'rules: [{ pattern: a, action: deny }]',
    'agent',
    ["rule agent#1 denies in an agent's policy, where a run's own policy can lift it: put it in the ceiling"],
  ],
  ['a deny of a ceiling', 'rules: [{ pattern: a, action: deny }]', 'ceiling', []],
  [
    'a run that hides arguments',
    'redact: { also: [to] }',
    'run',
    [
      "below a ceiling a run with this policy is refused: 'also' hides arguments from the reviewers of the ceiling: it belongs in the ceiling or in the agent's policy",
    ],
  ],
  ['an agent that hides arguments', 'approval: { include_arguments: false }', 'agent', []],
  [
    'a run that reminds too often',
    'rules: [{ pattern: a, action: ask, ask: { remind: 5s } }]',
    'run',
    ["rule run#1 reminds more often than a ceiling admits by default: its 'min_remind' counts"],
  ],
  ['a run that reminds each minute', 'rules: [{ pattern: a, action: ask, ask: { remind: 1m } }]', 'run', []],
  [
    'a run that escalates too fast',
    'rules: [{ pattern: a, action: ask, ask: { reviewers: [b], escalate: [{ after: 1m, to: [c] }, { after: 90s, to: [d] }] } }]',
    'run',
    ["rule run#1 escalates faster than a ceiling admits by default: its 'min_remind' lies between steps"],
  ],
  [
    'a run that escalates each minute',
    'rules: [{ pattern: a, action: ask, ask: { reviewers: [b], escalate: [{ after: 1m, to: [c] }, { after: 2m, to: [d] }] } }]',
    'run',
    [],
  ],
  ['a ceiling that reminds often', 'rules: [{ pattern: a, action: ask, ask: { remind: 5s } }]', 'ceiling', []],
])('%s', (_, text, of, expected) => expect(messages(text, of)).toEqual(expected));

describe('a deny that reads what may be absent', () => {
  const every = 'rule run#1 denies every call';
  const some = 'rule run#1 may deny a call';
  const amount = `without 'amount', which its condition reads: test has(args.amount) first if such calls may run`;
  const to = `without 'to', which its args match`;
  const team = "of a run without 'team' in its metadata: test has(metadata.team) first if such runs may call it";
  const caller = 'of a run without a caller: test caller != null first if such runs may call it';
  const absent = (place: string, test: string) =>
    `${some} without '${place}', which its condition reads: test ${test} first if such calls may run`;
  const groups = 'of a caller without groups: test has(caller.groups) first if such callers may call it';
  test.each<[string, string[]]>([
    ['when: "args.amount > 5"', [`${every} ${amount}`]],
    [
      'when: "args.to == 1 && args.amount > 5"',
      [
        `${some} without 'to', which its condition reads: test has(args.to) first if such calls may run`,
        `${some} ${amount}`,
      ],
    ],
    ['when: "risk == tool || args.amount > 5"', [`${every} ${amount}`]],
    [
      `when: 'args["the-amount"] > 5'`,
      [
        `${every} without 'the-amount', which its condition reads: test "the-amount" in args first if such calls may run`,
      ],
    ],
    ['args: { to: eve }', [`${every} ${to}: add when: has(args.to) if such calls may run`]],
    ['args: { to: eve }, when: "tool != risk"', [`${some} ${to}: test has(args.to) first if such calls may run`]],
    [
      'args: { amount: "*" }, when: "args.amount > 5"',
      [`${every} without 'amount', which its args match: test has(args.amount) first if such calls may run`],
    ],
    [`when: 'metadata.team == "a"'`, [`${every} ${team}`]],
    [`when: 'caller.userId == "eve"'`, [`${every} ${caller}`]],
    [`when: 'has(caller.userId) && caller.userId == "eve"'`, [`${every} ${caller}`]],
    [`when: 'caller != null && "x" in caller.groups'`, [`${some} ${groups}`]],
    ['when: "has(args.a) && args.a.b == 5.0"', [absent('a.b', 'has(args.a.b)')]],
    ['when: "has(args.a) && has(args.a.b) && args.a.b.c > 5.0"', [absent('a.b.c', 'has(args.a.b.c)')]],
    [`when: 'has(args.a) && args.a["the-b"] > 5.0'`, [absent('a.the-b', '"the-b" in args.a')]],
    [`when: 'has(args.a) && args["a"].b > 5.0'`, [absent('a.b', 'has(args["a"].b)')]],
    [`when: 'has(args.a) && args.a[0] == "x"'`, [absent('a[0]', 'size(args.a) > 0')]],
    [`when: 'has(args.a) && size(args.a) > 0 && args.a[1] == "x"'`, [absent('a[1]', 'size(args.a) > 1')]],
    [`when: 'has(args.a) && size(args.a) >= 0 && args.a[0] == "x"'`, [absent('a[0]', 'size(args.a) > 0')]],
    [`when: 'has(args.a) && size(args.a) > 0 && args.a[0].b == "x"'`, [absent('a[0].b', 'has(args.a[0].b)')]],
    [`when: 'has(args.a) && args.a.exists(i, i.price > 5.0)'`, [absent('a[].price', 'has(i.price)')]],
    [
      `when: 'has(args.a) && args.a.all(i, has(i.list) && i.list.all(j, j.b[0] == 1))'`,
      [absent('a[].list[].b', 'has(j.b)'), absent('a[].list[].b[0]', 'size(j.b) > 0')],
    ],
    [
      'when: "args.a.b == 5.0"',
      [
        `${every} without 'a', which its condition reads: test has(args.a) first if such calls may run`,
        `${every} without 'a.b', which its condition reads: test has(args.a.b) first if such calls may run`,
      ],
    ],
    [
      `when: 'has(metadata.team) && metadata.team.lead == "a"'`,
      [
        `${some} of a run without 'team.lead' in its metadata: test has(metadata.team.lead) first if such runs may call it`,
      ],
    ],
    [
      `when: 'caller != null && has(caller.groups) && caller.groups[0] == "a"'`,
      [`${some} of a caller without 'groups[0]': test size(caller.groups) > 0 first if such callers may call it`],
    ],
  ])('%s', (keys, expected) => {
    const found = messages(`rules: [{ pattern: pay, ${keys}, action: deny }]`);
    expect(found.filter((message) => !message.includes('passes over'))).toEqual(expected);
  });

  test.each([
    'when: "has(args.amount) && args.amount > 5"',
    'when: "!has(args.amount) || args.amount > 5"',
    'when: "args.amount > 5 && has(args.amount)"',
    'when: "has(args.amount) ? args.amount > 5 : false"',
    `when: '"the-amount" in args && args["the-amount"] > 5'`,
    'args: { to: eve }, when: has(args.to)',
    'args: { to: eve }, when: "has(args.to) && tool != risk"',
    `when: 'has(metadata.team) && metadata.team == "a"'`,
    `when: 'caller != null && caller.userId == "eve"'`,
    `when: 'caller == null || caller.userId == "eve"'`,
    `when: 'caller != null && has(caller.groups) && "x" in caller.groups'`,
    'when: "has(args.a) && has(args.a.b) && args.a.b == 5.0"',
    `when: 'has(args.a) && size(args.a) > 0 && args.a[0] == "x"'`,
    `when: 'has(args.a) && size(args.a) != 0 && args.a[0] == "x"'`,
    `when: 'has(args.a) && args.a != [] && args.a[0] == "x"'`,
    `when: 'has(args.a) && (size(args.a) < 2 || args.a[1] == "x")'`,
    `when: 'has(args.a) && "x" in args.a && args.a[0] == "x"'`,
    `when: 'has(args.a) && args.a.exists(i, i == "x")'`,
    `when: 'has(args.a) && args.a.exists(i, has(i.price) && i.price > 5.0)'`,
    `when: 'has(metadata.team) && has(metadata.team.lead) && metadata.team.lead == "a"'`,
    `when: 'caller != null && has(caller.groups) && size(caller.groups) > 0 && caller.groups[0] == "a"'`,
    'when: counts.calls > 5',
    `when: 'agent == "a"'`,
  ])('%s needs no word', (keys) => {
    expect(messages(`rules: [{ pattern: pay, ${keys}, action: deny }]`)).toEqual([]);
  });

  test.each([
    [
      'ask',
      [
        'rule run#1 may ask about a call without',
        "rule run#1 asks about every call without 'amount', which its condition reads: test has(args.amount) first",
      ],
    ],
    ['allow', []],
  ])('%s', (action, expected) => {
    const found = messages(`rules: [{ pattern: pay, args: { to: eve }, when: "args.amount > 5", action: ${action} }]`);
    expect(found).toEqual(expected.map((each) => expect.stringContaining(each) as string));
  });

  test('an argument that each tool requires is always there', () => {
    const known = {
      tools: new Map([['pay', ['to', 'amount']]]),
      required: new Map([['pay', ['to']]]),
      agents: [],
    };
    const absent = (pattern: string): number =>
      lintPolicy(policy(`rules: [{ pattern: ${pattern}, args: { to: eve, amount: '5' }, action: deny }]`), { known })
        .length;
    expect([absent('pay'), absent("'p*'"), absent('other')]).toEqual([1, 1, 2]);
  });

  test('law: what is said to be denied without an argument is denied without it', () => {
    const part = fc.constantFrom(
      'args.x > 1',
      'args.x.z == 1',
      'args.x[0] == 1',
      'has(args.x)',
      'args.y == "a"',
      'has(args.y)',
      'args.x == args.y',
      'true',
    );
    const condition = fc.letrec<{ it: string }>((tie) => ({
      it: fc.oneof(
        { maxDepth: 3 },
        part,
        fc.tuple(tie('it'), fc.constantFrom(' && ', ' || '), tie('it')).map((each) => `(${each.join('')})`),
        tie('it').map((each) => `!(${each})`),
      ),
    })).it;
    let denied = 0;
    const value = fc.constantFrom<unknown>(1, 5, 'a', true, null, ['a']);
    fc.assert(
      fc.property(
        condition,
        fc.dictionary(fc.constantFrom('y', 'z'), value, { noNullPrototype: true }),
        fc.boolean(),
        (when, args, isMatched) => {
          const rule: Rule = { pattern: 'pay', when, action: 'deny', ...(isMatched && { args: { x: '5' } }) };
          if (!absentReads(rule).some((clause) => clause.startsWith("denies every call without 'x'"))) return;
          const run: Policy = { version: 1, mode: 'bypassPermissions', rules: [rule], riskDefaults: {}, approval: {} };
          const call = { tool: 'pay', args, risk: 'write' } as RuledCall;
          expect([when, args, evaluate({ run: compilePolicy(run, 'run') }, call).action]).toEqual([when, args, 'deny']);
          denied += 1;
        },
      ),
      { numRuns: runs(2_000) },
    );
    expect(denied).toBeGreaterThan(least(200));
  });
});

test.each([
  ['safe', 'read_only', 'allow', 'allow'],
  ['low', 'write', 'allow', 'allow'],
  ['low', 'destructive', 'allow', 'deny'],
  ['medium', 'write', 'allow', 'deny'],
  ['low', 'write', 'deny', 'deny'],
] as const)(
  'what the warning of on_timeout says is so: %s, %s, and the ceiling says %s: %s',
  (severity, risk, ceiling, onTimeout) => {
    const layers = {
      ceiling: policy(`approval: { on_timeout: ${ceiling} }`, true),
      run: policy('approval: { on_timeout: allow }'),
    };
    expect(askTermsOf(layers, { rule: null, severity }, { risk }).onTimeout).toBe(onTimeout);
  },
);
