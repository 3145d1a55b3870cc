import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { formatProblems, parsePolicy, type ParsePolicyOptions } from '../../src/policy-file/parse-policy.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import { compilePolicy, engine, evaluate } from '../../src/core/policy/ruling.ts';
import { runs } from '../support/thorough.ts';

const hour = 3_600_000;
const lines = (source: string | object, options?: ParsePolicyOptions): string[] => {
  const parsed = parsePolicy(source, options);
  return 'problems' in parsed ? formatProblems('p.yaml', parsed.problems).split('\n') : [];
};
const policyOf = (source: string | object, options?: ParsePolicyOptions): Policy => {
  const parsed = parsePolicy(source, options);
  if ('problems' in parsed) throw new Error(formatProblems('p.yaml', parsed.problems));
  return parsed.policy;
};
const empty: Policy = { version: 1, rules: [], riskDefaults: {}, approval: {} };

describe('a policy in its normal form', () => {
  const whole = `
version: 1
risk_defaults: { read_only: allow, write: ask, destructive: deny }
rules:
  - { pattern: "search_*", action: allow }
  - { id: prod, pattern: "deploy:*production*", action: ask, reason: "Production needs a person" }
approval: { timeout: 90s, max_timeout: 2d, min_remind: 10s, max_pending: 50 }
`;
  const normal: Policy = {
    version: 1,
    rules: [
      { pattern: 'search_*', action: 'allow' },
      { id: 'prod', pattern: 'deploy:*production*', action: 'ask', reason: 'Production needs a person' },
    ],
    riskDefaults: { read_only: 'allow', write: 'ask', destructive: 'deny' },
    approval: { timeoutMs: 90_000, maxTimeoutMs: 48 * hour, minRemindMs: 10_000, maxPending: 50 },
  };
  test('names of agents in NFC', () => {
    const rules = [{ pattern: 'a', action: 'deny' }];
    expect(policyOf({ agents: { 'rene\u0301': { rules } } }).rules).toEqual([{ ...rules[0], agent: 'ren\u00e9' }]);
  });
  test('every key', () => expect(policyOf(whole, { ceiling: true })).toEqual(normal));

  test.each<[string, string | object]>([
    ['an empty map', '{}'],
    ['a version only', 'version: 1'],
    ['no rules', 'rules: []'],
    ['a byte order mark', '\ufeffrules: []'],
    ['JSON with tabs', '{\n\t"version": 1,\n\t"rules": []\n}'],
    ['an object', { version: 1, rules: [], approval: {} }],
  ])('%s', (_, source) => expect(policyOf(source)).toEqual(empty));

  test('is the same from YAML, JSON and an object', () => {
    const document = { rules: [{ pattern: '"😀"\u2028\\/', action: 'deny' }], approval: { timeout: '5m' } };
    const fromObject = policyOf(document);
    expect(policyOf(JSON.stringify(document, null, 2))).toEqual(fromObject);
    expect(policyOf('rules:\n- pattern: "\\"😀\\"\\u2028\\\\/"\n  action: deny\napproval:\n  timeout: 5m\n')).toEqual(
      fromObject,
    );
  });

  test('yes, no, on and 1_0 are texts, as YAML 1.2 says', () => {
    expect(policyOf('rules: [{ id: yes, pattern: no, action: ask, reason: on }]').rules).toEqual([
      { id: 'yes', pattern: 'no', action: 'ask', reason: 'on' },
    ]);
  });
});

describe('refused, with line and column', () => {
  test.each<[string, string, string]>([
    [
      'unknown key',
      'rules: []\nrule: []',
      "2:1 unknown key 'rule'; known here are version, mode, rules, risk_defaults, approval, limits, prices, agents, assess, redact, advisor, directory, reviewer_keys, revoked",
    ],
    ['unknown key of a rule', 'rules:\n  - pattern: a\n    action: ask\n    reson: x', "4:5 unknown key 'reson'"],
    [
      'unknown risk',
      'risk_defaults: { unknown: allow }',
      "1:18 unknown key 'unknown'; known here are read_only, write, destructive",
    ],
    ['__proto__', '__proto__: { rules: [] }', "1:1 unknown key '__proto__'"],
    ['a wrong version', 'version: 2', "1:10 'version' must be 1, not 2"],
    [
      'a wrong action',
      'rules:\n  - { pattern: a, action: permit }',
      "2:27 'action' must be one of allow, ask, deny, not 'permit'",
    ],
    ['a missing action', 'rules:\n  - { pattern: a }', "2:5 'action' is missing"],
    ['a missing pattern', 'rules:\n  - action: ask', "2:5 'pattern' is missing"],
    ['a pattern that is no text', 'rules: [{ pattern: 5, action: ask }]', "1:20 'pattern' must be a text, not 5"],
    [
      'a bad pattern',
      'rules:\n\n  - { pattern: "[z-a]", action: ask }',
      "3:16 'pattern' holds the reversed range [z-a]",
    ],
    ['a blank pattern', 'rules: [{ pattern: " ", action: ask }]', "1:20 'pattern' is empty"],
    [
      'a bare star',
      'rules:\n  - pattern: *\n    action: ask',
      '2:14 anchors and aliases are not part of a policy: put a text that begins with * or & in quotes',
    ],
    ['a bare star and more', 'rules:\n  - pattern: *_x\n    action: ask', '2:14 anchors and aliases'],
    ['an anchor', 'rules: &r []', '1:11 anchors and aliases'],
    ['a tag', 'rules: !!set { a }', '1:14 tags such as'],
    ['an unknown tag', 'rules: !mine []', '1:8 the text is not YAML 1.2'],
    ['a merge key', '<<: { rules: [] }', "1:1 unknown key '<<'"],
    ['a key that appears twice', 'rules: []\nrules: []', "2:1 the key 'rules' appears twice"],
    [
      'a rule id that appears twice',
      'rules:\n  - { id: a, pattern: x, action: ask }\n  - { id: a, pattern: y, action: ask }',
      "3:11 'id' a is taken by rule 1",
    ],
    [
      'an id like those of rules without one',
      'rules: [{ id: "ceiling#1", pattern: x, action: ask }]',
      "1:15 'id' must not look like LAYER#N",
    ],
    ['a number for a key', '1: 2', '1:1 a key must be a text'],
    ['tabs', 'rules:\n\t- a', '2:1 the text is not YAML 1.2: Tabs are not allowed as indentation'],
    ['broken YAML', 'rules: [', '1:9 the text is not YAML 1.2'],
    ['YAML 1.1', '%YAML 1.1\n---\nrules: []', '1:1 the text must be YAML 1.2'],
    ['two documents', 'rules: []\n---\nrules: []', '2:1 the text holds a second document'],
    ['nothing', '', '1:1 a policy must be a map, not empty'],
    ['a list', '- a', '1:1 a policy must be a map, not a list'],
    ['rules that are empty', 'rules:\n', "1:7 'rules' must be a list, not empty"],
    [
      'half a surrogate pair',
      'rules: [{ pattern: "\\ud83d", action: ask }]',
      "1:20 'pattern' holds half a surrogate pair",
    ],
    ['too many brackets', '['.repeat(200_000), 'nested more than 50 levels deep'],
    ['too many dashes', '- '.repeat(20_000), 'nested more than 50 levels deep'],
    ['too long', ' '.repeat(1_000_001), 'more than 1000000 characters'],
  ])('%s', (_, source, expected) => {
    const [line] = lines(source);
    expect(line).toMatch(/^p\.yaml:\d+:\d+ /);
    expect(line).toContain(expected);
  });

  test('every problem at once, in the order of the text', () => {
    expect(lines('version: 3\nfoo: 1\nrules:\n  - { pattern: " a", action: no }\n')).toEqual([
      "p.yaml:1:10 'version' must be 1, not 3",
      "p.yaml:2:1 unknown key 'foo'; known here are version, mode, rules, risk_defaults, approval, limits, prices, agents, assess, redact, advisor, directory, reviewer_keys, revoked",
      "p.yaml:4:16 'pattern' begins or ends with a blank",
      "p.yaml:4:30 'action' must be one of allow, ask, deny, not 'no'",
    ]);
  });

  test('problems of an object have a path instead of a line', () => {
    const parsed = parsePolicy({ rules: [{ pattern: 'a', action: 'no' }] }, { file: 'x' });
    expect(parsed).toEqual({
      problems: [{ file: 'x', path: 'rules[0].action', message: "'action' must be one of allow, ask, deny, not 'no'" }],
    });
    expect(lines({ rules: 1 })).toEqual(["p.yaml: 'rules' must be a list, not 1 (at rules)"]);
  });
});

test('channels are sent to where they belong', () => {
  expect(lines({ channels: {} })).toEqual([
    "p.yaml: 'channels' is no member of a policy: a worker names its channels (docs/channels.md) (at channels)",
  ]);
});

describe('features that the language has and a run does not support', () => {
  const nowhere = ['mcp'];
  const inAsk = {
    reviewers: ['ann', 'group:finance'],
    quorum: 2,
    one_of_each: ['group:finance', 'group:legal'],
    veto: false,
    verified: true,
    allow_self: true,
    timeout: '1h',
    warn_before: '5m',
    remind: '15m',
    escalate: [{ after: '30m', to: ['group:cfo'] }],
    on_timeout: 'deny',
    always: false,
    advisor: { name: 'triage', may_approve: true, timeout: '45s' },
  };
  const inApproval = {
    on_timeout: 'allow',
    max_retries_after_deny: 3,
    denials_hold_for: 'run',
    max_irreversible_per_run: 0,
    include_arguments: false,
    show: { 'pay_*': ['amount', 'to'] },
    redact: false,
    batch: 'sequential',
    cached_results: false,
    denied_as: 'error',
  };
  const asking = (ask: object): object => ({ rules: [{ pattern: 'a', action: 'ask', ask }] });
  const everything: (readonly [string, object])[] = [
    ...Object.entries(inAsk).map(([key, value]) => [key, asking({ [key]: value })] as const),
    ...Object.entries(inApproval).map(([key, value]) => [key, { approval: { [key]: value } }] as const),
    ['assess', { assess: [{ pattern: 'a', severity: 'high' }] }],
    ['advisor', { advisor: { name: 'triage', may_approve: true, timeout: '10m' } }],
    ['advisor of a rule: none', asking({ advisor: false })],
    ['redact', { redact: { patterns: [{ name: 'TICKET', pattern: 'T-[0-9]+' }] } }],
  ];
  const all: Policy = {
    ...empty,
    rules: [
      {
        pattern: 'a',
        action: 'ask',
        ask: {
          reviewers: ['ann', 'group:finance'],
          quorum: 2,
          oneOfEach: ['group:finance', 'group:legal'],
          veto: false,
          verified: true,
          allowSelf: true,
          timeoutMs: hour,
          warnBeforeMs: 300_000,
          remindMs: 900_000,
          escalate: [{ afterMs: 1_800_000, to: ['group:cfo'] }],
          onTimeout: 'deny',
          always: false,
          advisor: { name: 'triage', mayApprove: true, timeoutMs: 45_000 },
        },
      },
    ],
    approval: {
      onTimeout: 'allow',
      maxRetriesAfterDeny: 3,
      denialsHoldFor: 'run',
      maxIrreversiblePerRun: 0,
      includeArguments: false,
      show: { 'pay_*': ['amount', 'to'] },
      redact: false,
      batch: 'sequential',
      cachedResults: false,
      deniedAs: 'error',
    },
  };

  test.each(nowhere.map((key) => [key, { [key]: null }] as const))('%s is refused, not ignored', (key, document) => {
    expect(lines(document)).toEqual([expect.stringContaining(`'${key}' is not supported by this version`)]);
    expect(lines(JSON.stringify(document))).toEqual([
      expect.stringMatching(/^p\.yaml:1:\d+ .*not supported by this version$/),
    ]);
  });
  test.each(everything)('%s is accepted', (_, document) => {
    expect(lines(document)).toEqual([]);
  });
  test('all of it in its normal form', () => {
    const document = { ...asking(inAsk), approval: inApproval };
    expect(policyOf(document)).toEqual(all);
  });
  test.each([
    [true, "'show' must be"],
    ['amount', "'show' must be"],
    [{ pay: [] }, "'pay' must name an argument"],
    [{ pay: ['a', 'a'] }, "'pay' must not name an argument twice"],
    [{ pay: ['a', ''] }, "'pay' item 2 must not be empty"],
    [{ '[z-a]': ['a'] }, "the name '[z-a]' holds the reversed range"],
  ])('show: %j is refused', (show, problem) => {
    expect(lines({ approval: { show } })).toEqual([expect.stringContaining(problem)]);
  });
  test("problems in an agent's block are reported with their position", () => {
    const document = { agents: { a: { rules: [{ pattern: 'a', action: 'ask', ask: { quorum: 0 } }] } } };
    expect(lines(document)).toEqual([
      "p.yaml: 'quorum' must be a whole number from 1 to 50 (at agents.a.rules[0].ask.quorum)",
    ]);
  });
});

describe('rules', () => {
  test.each<[string, object, string | undefined]>([
    ['globs on arguments', { args: { to: '*@acme.com', 'a.b': 'x' } }, undefined],
    ['no glob', { args: {} }, "'args' must name an argument"],
    ['a bad glob', { args: { to: '[z-a]' } }, "'to' holds the reversed range [z-a]"],
    ['a blank glob', { args: { to: '' } }, "'to' is empty: write * to match any value"],
    ['a glob that is no text', { args: { to: 5 } }, "'to' must be a text, not 5"],
    ['too many wildcards', { args: { to: '*a'.repeat(17) } }, "'to' has 17 wildcards; at most 16 are allowed"],
    ['a condition', { when: 'args.amount > 10000 && risk != "write"' }, undefined],
    ['an empty condition', { when: ' ' }, "'when' is empty"],
    ['a condition that is no CEL', { when: 'args.amount >' }, "'when' is not CEL: 1:"],
    ['a condition on nothing we know', { when: 'amount > 1' }, "'when' reads 'amount'; it can read args, tool"],
    ['a function nobody knows', { when: 'now() == 1' }, "'when' uses 'now', which is not part of the language"],
    ['a long condition', { when: `true${' '.repeat(1_000)}` }, "'when' has 1004 characters; at most 1000"],
    ['terms where nobody is asked', { action: 'deny', ask: {} }, "'ask' belongs to a rule whose action is ask"],
    ['a grant kind', { ask: { always: true } }, "'always' must be one of false, call, arguments, tool, not true"],
    ['a quorum out of reach', { ask: { reviewers: ['a', 'b', 'a'], quorum: 3 } }, "'quorum' is 3, of 2 reviewers"],
    ['a quorum of a group', { ask: { reviewers: ['group:a'], quorum: 3 } }, undefined],
    ['a reminder in less than a second', { ask: { remind: '999ms' } }, "'remind' must be 1s or more"],
    ['a reminder that never comes', { ask: { remind: 'never' } }, "'remind' must be a whole number and a unit"],
    ['a long time-out', { ask: { timeout: '25h' } }, "'timeout' 25h is over 24h; only a ceiling's 'max_timeout'"],
    ['an unknown key inside', { ask: { quorun: 1 } }, "unknown key 'quorun'; known here are reviewers, quorum"],
    [
      'an unknown key of an item',
      { ask: { escalate: [{ afer: '1h', to: ['a'] }] } },
      "unknown key 'afer'; known here are after, to",
    ],
  ])('%s', (_, keys, expected) => {
    const found = lines({ rules: [{ pattern: 'a', action: 'ask', ...keys }] });
    if (expected === undefined) expect(found).toEqual([]);
    else expect(found).toContainEqual(expect.stringContaining(expected));
  });

  test('a name that our maps cannot hold is refused, not dropped: a rule would match more', () => {
    expect(lines('rules: [{ pattern: a, action: allow, args: { __proto__: x, to: y } }]')).toEqual([
      "p.yaml:1:46 '__proto__' cannot be a name",
    ]);
    expect(lines('agents: { __proto__: { rules: [{ pattern: a, action: deny }] } }')).toEqual([
      "p.yaml:1:11 '__proto__' cannot be a name",
    ]);
  });

  test("agents' rules come after the others, and keep their agent", () => {
    const parsed = parsePolicy(
      'agents:\n  ops: { rules: [{ pattern: b, action: ask }] }\n  web:\n    rules:\n      - { pattern: c, action: deny }\nrules:\n  - { pattern: a, action: allow }\n',
    );
    expect(parsed).toEqual({
      policy: {
        ...empty,
        rules: [
          { pattern: 'a', action: 'allow' },
          { agent: 'ops', pattern: 'b', action: 'ask' },
          { agent: 'web', pattern: 'c', action: 'deny' },
        ],
      },
      lines: [7, 2, 5],
    });
  });
  test.each([
    ['agents: { ops: { rules: [], mode: plan } }', "1:29 unknown key 'mode'; known here are rules"],
    ['agents: { ops: {} }', "1:16 'rules' is missing"],
    [`agents: { ${'x'.repeat(65)}: { rules: [] } }`, 'must have at most 64 characters'],
    [
      'rules: [{ id: x, pattern: a, action: ask }]\nagents: { o: { rules: [{ id: x, pattern: a, action: ask }] } }',
      "2:30 'id' x is taken by rule 1",
    ],
    ['mode: yolo', "1:7 'mode' must be one of default, interactive, custom"],
    [
      'redact:\n  patterns:\n    - { name: A, pattern: "(?=a)" }',
      "3:27 'pattern' is not a regular expression in RE2 syntax",
    ],
    ['redact: { patterns: [{ name: A, pattern: "a*" }] }', "1:42 'pattern' matches the empty text"],
    [`redact: { patterns: [{ name: A, pattern: ${'a'.repeat(501)} }] }`, "'pattern' must have at most 500 characters"],
    ['redact: { patterns: [{ name: ticket, pattern: a }] }', "1:30 'name' must be 1 to 40 capital letters"],
    ['redact: { patterns: [{ name: A }] }', "'pattern' is missing"],
    ['redact: { kinds: [EMAIL, NAME] }', "1:26 'kinds' item 2 must be one of PRIVATE_KEY, JWT"],
    ['redact: { also: [to, ""] }', "1:22 'also' item 2 must not be empty"],
    ['redact: { fields: [to] }', "1:11 unknown key 'fields'; known here are kinds, patterns, also"],
  ])('%s', (source, expected) => {
    expect(lines(source)).toContainEqual(expect.stringContaining(expected));
  });
});

describe('examples are checked when the policy loads', () => {
  const wire = { pattern: 'wire_transfer', when: 'args.amount > 10000', action: 'ask' };
  const mail = { pattern: 'send_*', args: { to: '*@acme.com' }, action: 'allow' };
  const shell = { pattern: 'bash:git *', action: 'ask' };
  test.each<[string, object, object, string | undefined]>([
    ['all right', wire, { match: [{ amount: 20000 }], not_match: [{ amount: 5 }] }, undefined],
    ['does not match', wire, { match: [{ amount: 20000 }, { amount: 5 }] }, '(at rules[0].examples.match[1])'],
    ['matches', wire, { not_match: [{ amount: 20000 }] }, 'this example matches the rule but must not'],
    ['cannot be told', wire, { not_match: [{}] }, "this example cannot be evaluated: 'amount' is missing"],
    ['a glob', mail, { match: [{ to: 'a@acme.com' }], not_match: [{ to: 'a@evil.com' }] }, undefined],
    ['a glob that fails', mail, { match: [{ to: 'a@evil.com' }] }, 'this example does not match the rule'],
    ['a subject', shell, { match: ['git log'], not_match: ['rm -rf /'] }, undefined],
    ['a subject that fails', shell, { match: ['rm'] }, 'this example does not match the rule'],
    ['neither a map nor a text', shell, { match: [5] }, "'match' item 1 must be a map or a text, not 5"],
  ])('%s', (_, rule, examples, expected) => {
    const found = lines({ rules: [{ ...rule, examples }] });
    if (expected === undefined) expect(found).toEqual([]);
    else expect(found).toEqual([expect.stringContaining(expected)]);
  });
  test('are not part of the policy that a run records', () => {
    expect(policyOf({ rules: [{ ...wire, examples: { match: [{ amount: 20000 }] } }] }).rules).toEqual([wire]);
  });
});

test.each<[string, ParsePolicyOptions, string | undefined]>([
  ['prices: { currency: EUR, models: { m: { input: 1, output: 0 } } }', { ceiling: true }, undefined],
  ['prices: { currency: EUR, models: {} }', {}, "'prices' belongs in the ceiling, the policy given to createWorker"],
  [
    'prices: { currency: euro, models: {} }',
    { ceiling: true },
    "'currency' must be three capital letters, such as USD",
  ],
  [
    'prices: { currency: EUR, models: { m: { input: -1, output: 1 } } }',
    { ceiling: true },
    "'input' must be a number of at least 0",
  ],
  ['limits: { cost: { ask: 0.5 } }', {}, undefined],
  ['limits: { cost: 0 }', {}, "'cost' must be a number above 0"],
])('%s %j', (source, options, problem) => {
  const parsed = parsePolicy(source, options);
  expect('problems' in parsed ? parsed.problems[0]!.message : undefined).toBe(problem);
});

describe('limits', () => {
  const durations = 'must be a whole number and a unit, such as 30s, 5m, 1h or 1d, or never';
  test.each<[string, ParsePolicyOptions, string | undefined]>([
    ['timeout: 24h', {}, undefined],
    ['timeout: 25h', {}, "'timeout' 25h is over 24h; only a ceiling's 'max_timeout' permits more"],
    ['timeout: 25h', { ceiling: true }, "'timeout' 25h is over 24h"],
    ['timeout: 25h, max_timeout: 2d', { ceiling: true }, undefined],
    ['timeout: 2h, max_timeout: 1h', { ceiling: true }, "'timeout' 2h is over 1h"],
    ['timeout: never', {}, "'timeout' never is over 24h; only a ceiling with 'max_timeout: never' permits it"],
    ['timeout: never, max_timeout: 2d', { ceiling: true }, "'timeout' never is over 2d"],
    ['timeout: never, max_timeout: never', { ceiling: true }, undefined],
    ['max_timeout: 1h', {}, "'max_timeout' belongs in the ceiling"],
    ['min_remind: 1h', {}, "'min_remind' belongs in the ceiling"],
    ['min_remind: 999ms', { ceiling: true }, "'min_remind' must be 1s or more"],
    ['min_remind: never', { ceiling: true }, "'min_remind' must be a whole number and a unit"],
    ['timeout: 25h', { maxTimeoutMs: 48 * hour }, undefined],
    ['timeout: never', { maxTimeoutMs: null }, undefined],
    ['timeout: 2h', { maxTimeoutMs: hour }, undefined],
    ['timeout: 0s', {}, "'timeout' must be longer than 0"],
    ['timeout: 5', {}, `'timeout' ${durations}`],
    ['timeout: soon', {}, `'timeout' ${durations}`],
    ['timeout: ', {}, `'timeout' ${durations}`],
    ['max_pending: 1', {}, undefined],
    ['max_pending: 50', {}, undefined],
    ['max_pending: 51', {}, "'max_pending' must be a whole number from 1 to 50: the ids of all open requests fit"],
    ['max_pending: 0', {}, "'max_pending' must be a whole number from 1 to 50"],
    ['max_pending: 2.5', {}, "'max_pending' must be a whole number from 1 to 50"],
    ['max_pending: "5"', {}, "'max_pending' must be a whole number from 1 to 50"],
    ['max_pending: .nan', {}, 'not a value of JSON'],
  ])('%s with %j', (approval, options, expected) => {
    expect(lines(`approval: { ${approval} }`, options)).toEqual(
      expected === undefined ? [] : [expect.stringContaining(expected)],
    );
  });
});

describe('total: any input gives a policy that can rule, or problems with a position', () => {
  const check = (source: string | object): void => {
    const parsed = parsePolicy(source);
    if ('policy' in parsed) {
      const run = compilePolicy(parsed.policy, 'run');
      expect(evaluate({ run }, { tool: 'a', args: {}, risk: 'write' }).engine).toBe(engine);
    } else {
      expect(parsed.problems.length).toBeGreaterThan(0);
      for (const { message, line } of parsed.problems) {
        expect(message).not.toMatch(/Invalid input|Invalid option|undefined|\[object|stack/);
        if (typeof source === 'string') expect(line).toBeGreaterThan(0);
      }
    }
  };
  const pieces = [
    'rules',
    'version',
    'approval',
    'timeout',
    'pattern',
    'action',
    ': ',
    '- ',
    '\n',
    '  ',
    '[',
    ']',
    '{',
    '}',
    ', ',
    '*',
    '&a ',
    '*a',
    '!x ',
    '"',
    "'",
    '|',
    '>',
    '#',
    '?',
    '%',
    '---\n',
    '1',
    'allow',
    '\t',
    '\0',
    '\ud800',
  ];

  test('any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), check), { numRuns: runs(500) });
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => parts.join('')),
        check,
      ),
      { numRuns: runs(500) },
    );
  });

  test('any JSON, as a text and as an object', () => {
    const key = fc.constantFrom(
      'version',
      'rules',
      'risk_defaults',
      'approval',
      'timeout',
      'max_pending',
      'pattern',
      'action',
      'id',
      'when',
      '__proto__',
      'constructor',
    );
    const leaf = fc.constantFrom<unknown>(null, true, 1, 50, '', 'a', 'ask', '5m', 'never', '[z-a]');
    const { document } = fc.letrec((tie) => ({
      document: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('document'), { maxLength: 3 }),
        fc.dictionary(key, tie('document'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(fc.oneof(document, fc.jsonValue()), (value) => {
        check(JSON.stringify(value));
        check(value as object);
      }),
      { numRuns: runs(500) },
    );
  });

  test('a deep object and a cyclic one', () => {
    const cycle: Record<string, unknown> = {};
    cycle['rules'] = cycle;
    let deep: object = {};
    for (let level = 0; level < 100_000; level += 1) deep = { rules: deep };
    for (const source of [cycle, deep]) expect(lines(source)).toEqual(['p.yaml: a policy is at most 50 levels deep']);
  });
});
