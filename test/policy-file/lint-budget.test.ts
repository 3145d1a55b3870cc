/** Rules and conditions that cost more than the gate may spend on a call of a usual size, and what reading them may cost. */
import { describe, expect, test } from 'vitest';
import { compileAssessRules } from '../../src/core/policy/assess-rules.ts';
import { assessRecorded } from '../../src/core/policy/recorded-assessment.ts';
import { compilePolicy, evaluate, type RuledCall } from '../../src/core/policy/ruling.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import { lintPolicy } from '../../src/policy-file/lint-policy.ts';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';
import { growth, squareGrowth } from '../support/processor-time.ts';
import { splitShell } from '../../src/shell/split.ts';

const policy = (document: object): Policy => {
  const parsed = parsePolicy(document, { ceiling: true });
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  return parsed.policy;
};
const many = (count: number, rule: (index: number) => object): object[] =>
  Array.from({ length: count }, (_, index) => rule(index));
const costs = (document: object): string[] =>
  lintPolicy(policy(document), { of: 'ceiling' })
    .map(({ message }) => message)
    .filter((message) => message.includes('cannot be evaluated') && !message.startsWith('rule '));

const deny = (pattern: string, args?: object) => ({ pattern, action: 'deny', ...(args && { args }) });
const shell = (count: number) => many(count, (index) => deny(`bash:c${index} *`));
const hosts = (count: number) => many(count, (index) => deny(`fetch:https://host-${index}.example/*`));
const senders = (count: number) => many(count, (index) => deny('send', { to: `*x${index}@evil.example` }));
const assessing = (rules: object[]) => ({
  assess: rules.map((rule) => {
    const { action: _action, ...matched } = rule as { action: string };
    return { ...matched, severity: 'critical' };
  }),
});

const bash = (command: string): RuledCall => ({
  tool: 'bash',
  args: { command },
  risk: 'write',
  subject: 'command',
  shell: splitShell(command),
});
const partsOf = (count: number) => bash(Array.from({ length: count }, () => 'ls').join(';'));
const charactersOf = (count: number) => bash('a'.repeat(count));
const argument =
  (tool: string, name: string, isSubject = true) =>
  (count: number) => ({
    tool,
    args: { [name]: 'a'.repeat(count) },
    risk: 'write' as const,
    ...(isSubject && { subject: name }),
  });

/** True if the gate could not evaluate the rules for this call. */
const isTooMuch = (document: object, call: RuledCall): boolean => {
  const parsed = policy(document);
  const { reason = '' } = evaluate({ ceiling: compilePolicy(parsed, 'ceiling') }, call);
  const { reasons } = assessRecorded(call, compileAssessRules({ ceiling: parsed }));
  return /too much for|too long for so many/.test([reason, ...reasons].join());
};

describe('what the warning says of the gate is so', () => {
  type Calls = Readonly<Record<string, (count: number) => RuledCall>>;
  const commands: Calls = { parts: partsOf, characters: charactersOf };
  test.each<[string, object, string, Calls]>([
    ['commands of one tool', { rules: shell(500) }, "500 rules are about 'bash': a command", commands],
    ['more of them', { rules: shell(1_200) }, "1200 rules are about 'bash': a command", commands],
    [
      'with rules for all tools',
      { rules: [...shell(300), ...many(200, (index) => deny(`*:d${index} *`))] },
      "500 rules are about 'bash': a command",
      commands,
    ],
    [
      'with rules that have no glob',
      { rules: [...shell(10), ...many(490, (index) => ({ ...deny('*'), when: `counts.calls > ${index}` }))] },
      "500 rules are about 'bash': a command",
      commands,
    ],
    [
      'commands in an argument',
      { rules: many(500, (index) => deny('*', { command: `rm x${index}*` })) },
      "500 rules are about '*': a command",
      commands,
    ],
    [
      'a text',
      { rules: hosts(600) },
      "600 rules are about 'fetch': an argument",
      { characters: argument('fetch', 'url') },
    ],
    [
      'globs on an argument',
      { rules: senders(900) },
      "900 rules are about 'send': an argument 'to'",
      { characters: argument('send', 'to') },
    ],
    [
      'globs on an argument that is not the subject',
      { rules: senders(900) },
      "900 rules are about 'send': an argument 'to'",
      { characters: argument('send', 'to', false) },
    ],
    [
      'assess rules with a pattern',
      assessing(hosts(400)),
      "400 assess rules are about 'fetch': an argument",
      { characters: argument('fetch', 'url') },
    ],
    [
      'assess rules with globs',
      assessing(senders(600)),
      "600 assess rules are about 'send': an argument 'to'",
      { characters: argument('send', 'to') },
    ],
    [
      'assess rules about commands',
      assessing(shell(800)),
      "800 assess rules are about 'bash': a command",
      { characters: charactersOf },
    ],
  ])('%s', (_, document, beginning, calls) => {
    const [message = '', ...others] = costs(document);
    expect(others).toEqual([]);
    expect(message.split(' of more than ')[0]).toBe(beginning);
    const bounds = [...message.matchAll(/(\d+) (parts|characters)/g)];
    expect(bounds.length).toBeGreaterThan(0);
    for (const [, most, unit] of bounds) {
      expect([unit, isTooMuch(document, calls[unit!]!(Number(most)))]).toEqual([unit, false]);
      expect([unit, isTooMuch(document, calls[unit!]!(Number(most) + 1))]).toEqual([unit, true]);
    }
  });
});

test.each<[string, object]>([
  ['390 rules about commands', { rules: shell(390) }],
  ['400 globs on an argument', { rules: senders(400) }],
  ['many globs on different arguments', { rules: many(900, (index) => deny('send', { [`to${index}`]: '*@evil' })) }],
  ['200 assess rules', assessing(senders(200))],
  ['many assess rules about different tools', assessing(many(900, (index) => deny(`send${index}`, { to: '*@evil' })))],
  [
    'globs of different agents',
    {
      agents: Object.fromEntries(['a', 'b', 'c'].map((agent) => [agent, { rules: senders(300) }])),
    },
  ],
])('%s need no word', (_, document) => expect(costs(document)).toEqual([]));

describe('conditions', () => {
  const nested = (count: number) =>
    many(count, (index) => ({
      ...deny('pay'),
      when: `has(args.l) && args.l.exists(a, args.l.exists(b, a == b && a == ${index}.5))`,
    }));
  const answer = (document: object, call: RuledCall) =>
    evaluate({ ceiling: compilePolicy(policy(document), 'ceiling') }, call).reason;

  test('sixty nested loops', () => {
    expect(costs({ rules: nested(60) })).toEqual([
      expect.stringContaining("the conditions of rules about 'pay' take about"),
    ]);
    expect(costs({ rules: nested(10) })).toEqual([]);
    const l = Array.from({ length: 20 }, (_, index) => index);
    const pay: RuledCall = { tool: 'pay', args: { l }, risk: 'write' };
    expect(answer({ rules: nested(60) }, pay)).toContain('too costly');
    expect(answer({ rules: nested(10) }, pay) ?? '').not.toContain('too costly');
  });

  test('loops in each other', () => {
    const deep = (depth: number): string => (depth === 0 ? 'true' : `args.l.all(x, ${deep(depth - 1)})`);
    const rules = (depth: number) => [{ ...deny('pay'), when: `has(args.l) && ${deep(depth)}` }];
    expect(costs({ rules: rules(3) })).toEqual([]);
    expect(costs({ rules: rules(4) })).toHaveLength(1);
    expect(costs({ rules: rules(30) })).toEqual([expect.stringContaining('over 1000000000 steps')]);
  });

  test('of different agents do not add up', () => {
    const own = nested(20);
    expect(costs({ agents: { a: { rules: own }, b: { rules: own } } })).toEqual([]);
    expect(costs({ rules: own, agents: { a: { rules: own } } })).toHaveLength(1);
  });
});

describe('reading a policy', () => {
  const documents: Readonly<Record<string, (count: number) => object>> = {
    'rules about many tools': (count) => ({ rules: many(count, (index) => deny(`tool${index}`)) }),
    'globs on one command that allow and deny by turns': (count) => ({
      rules: many(count, (index) => ({ ...deny(`bash:a*b${index} *`), action: index % 2 === 0 ? 'allow' : 'deny' })),
    }),
    'rules of many agents': (count) => ({
      agents: Object.fromEntries(
        many(count, (index) => deny('x', { [`f${index}`]: 'a' })).map((each, index) => [
          `a${index}`,
          { rules: [each] },
        ]),
      ),
    }),
    'many groups that are asked': (count) => ({
      rules: many(count / 50, (rule) => ({
        pattern: 'x',
        action: 'ask',
        ask: { reviewers: Array.from({ length: 50 }, (_, index) => `group:g${rule}x${index}`) },
      })),
      directory: {
        people: Object.fromEntries(
          many(1_000, (index) => ({ groups: [`g${index}`] })).map((each, index) => [`p${index}`, each]),
        ),
      },
    }),
  };
  test.each(Object.entries(documents))(
    'takes a time in proportion to its length: %s',
    (_, document) => {
      const workFor = (count: number) => {
        const read = policy(document(count));
        return () => void lintPolicy(read, { of: 'ceiling' });
      };
      expect(growth(workFor, 4_000)).toBeLessThan(squareGrowth);
    },
    300_000,
  );

  test('says that not all rules were compared', () => {
    const last = (count: number) =>
      lintPolicy(policy({ rules: many(count, (index) => deny(`tool${index}`)) })).map(({ message }) => message);
    expect(last(1_000)).toEqual([]);
    expect(last(16_000)).toEqual([expect.stringContaining('has too many rules to compare all of them')]);
  });

  test.each([
    ['a condition as deep as one may be', `${'!'.repeat(980)}args.a`],
    ['a condition that is longer than one may be', `${'('.repeat(3_000)}args.a${')'.repeat(3_000)}`],
    ['a condition without an end', '['.repeat(100_000)],
  ])('ends without an error: %s', (_, when) => {
    const rules = [{ pattern: 'x', when, action: 'deny' as const }];
    expect(lintPolicy({ version: 1, rules, riskDefaults: {}, approval: {} })).toEqual(expect.any(Array));
  });
});
