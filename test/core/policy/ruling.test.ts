import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { exactGlob } from '../../../src/card/narrowest-scope.ts';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import {
  compilePolicy,
  engine,
  evaluate,
  type CompiledPolicy,
  type RuledCall,
  type Ruling,
  type RulingContext,
} from '../../../src/core/policy/ruling.ts';
import type { Rule } from '../../../src/core/policy/policy.ts';
import type { JsonObject, Risk } from '../../../src/core/base/tool-call.ts';

const compiled = (source: string | object, layer: 'ceiling' | 'run'): CompiledPolicy => {
  const parsed = parsePolicy(source, { ceiling: layer === 'ceiling' });
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  return compilePolicy(parsed.policy, layer);
};

const rule = (policies: { ceiling?: string | object; run?: string | object }, call: Partial<RuledCall>): Ruling => {
  const { ceiling, run } = policies;
  const layers = {
    ...(ceiling !== undefined && { ceiling: compiled(ceiling, 'ceiling') }),
    ...(run !== undefined && { run: compiled(run, 'run') }),
  };
  return evaluate(layers, { tool: 'tool', args: {}, risk: 'write', ...call });
};

describe('without any policy: the standard risk defaults', () => {
  test.each<[Risk, Partial<Ruling>]>([
    ['read_only', { action: 'allow', severity: 'safe' }],
    ['write', { action: 'ask', severity: 'medium' }],
    ['destructive', { action: 'deny', severity: 'high' }],
    ['unknown', { action: 'ask', severity: 'high' }],
  ])('%s', (risk, expected) => {
    expect(rule({}, { risk })).toEqual({ ...expected, rule: null, layer: 'default', engine });
  });
});

describe('one layer', () => {
  const run = `
    rules:
      - { pattern: "*", action: allow }
      - { pattern: "send_*", action: ask, reason: "Mail needs a person" }
      - { id: no-fax, pattern: send_fax, action: deny }
      - { pattern: "bash:git *", action: allow }
      - { pattern: "bash:*push*", action: deny, reason: "Nobody pushes" }`;
  test.each<[string, string, JsonObject, Partial<Ruling>]>([
    ['a rule', 'read', {}, { action: 'allow', rule: 'run#1', layer: 'run' }],
    ['the last match wins', 'send_mail', {}, { action: 'ask', rule: 'run#2', reason: 'Mail needs a person' }],
    ['a rule with an id', 'send_fax', {}, { action: 'deny', rule: 'no-fax' }],
    ['the subject', 'bash', { command: 'git log' }, { action: 'allow', rule: 'run#4' }],
    [
      'the subject, a later rule',
      'bash',
      { command: 'git push' },
      { action: 'deny', rule: 'run#5', reason: 'Nobody pushes' },
    ],
  ])('%s', (_, tool, args, expected) =>
    expect(rule({ run }, { tool, args, subject: 'command' })).toMatchObject(expected),
  );

  test.each<[Risk, string, Partial<Ruling>]>([
    ['write', 'risk_defaults: { write: deny }', { action: 'deny', rule: null, layer: 'default' }],
    ['read_only', 'risk_defaults: { write: deny }', { action: 'allow', rule: null, layer: 'default' }],
    ['destructive', 'risk_defaults: { destructive: allow }', { action: 'allow', rule: null, layer: 'default' }],
    ['unknown', 'risk_defaults: { read_only: allow, write: allow, destructive: allow }', { action: 'ask', rule: null }],
    ['unknown', 'rules: [{ pattern: "*", action: allow }]', { action: 'allow', rule: 'run#1' }],
  ])('risk %s under %s', (risk, run, expected) => expect(rule({ run }, { risk })).toMatchObject(expected));
});

describe('two layers: the stricter answer', () => {
  const all = (action: string, id: string): string => `rules: [{ id: ${id}, pattern: "*", action: ${action} }]`;
  const asks = 'rules: []';
  test.each<[string, string, string, string | null, string]>([
    [all('allow', 'c'), all('deny', 'r'), 'deny', 'r', 'run'],
    [all('deny', 'c'), all('allow', 'r'), 'deny', 'c', 'ceiling'],
    [all('ask', 'c'), all('allow', 'r'), 'ask', 'c', 'ceiling'],
    [all('allow', 'c'), all('ask', 'r'), 'ask', 'r', 'run'],
    [all('allow', 'c'), all('allow', 'r'), 'allow', 'c', 'ceiling'],
    [all('deny', 'c'), all('deny', 'r'), 'deny', 'c', 'ceiling'],
    [asks, all('ask', 'r'), 'ask', 'r', 'run'],
    [all('ask', 'c'), asks, 'ask', 'c', 'ceiling'],
    [asks, asks, 'ask', null, 'default'],
    [asks, all('allow', 'r'), 'ask', null, 'default'],
    [all('allow', 'c'), asks, 'ask', null, 'default'],
  ])('ceiling %s, run %s: %s by %s', (ceiling, run, action, id, layer) => {
    expect(rule({ ceiling, run }, {})).toMatchObject({ action, rule: id, layer });
  });
});

describe('a rule that cannot be evaluated counts as its own action', () => {
  const failing = '{ id: bad, pattern: "tool:*", action: allow }';
  const call: Partial<RuledCall> = { subject: 'missing' };
  const failingDeny = '{ id: bad, pattern: "tool:*", action: deny }';
  const failingAsk = '{ id: bad, pattern: "tool:*", action: ask }';
  test.each<[string, Risk, Partial<Ruling>]>([
    [`[${failing}]`, 'read_only', { action: 'allow', rule: null, layer: 'default' }],
    [`[${failing}]`, 'write', { action: 'ask', rule: null, layer: 'default' }],
    [`[${failing}]`, 'destructive', { action: 'deny', rule: null, layer: 'default' }],
    [`[${failing}, { id: last, pattern: "*", action: allow }]`, 'write', { action: 'allow', rule: 'last' }],
    [`[${failing}, { id: last, pattern: "*", action: ask }]`, 'write', { action: 'ask', rule: 'last' }],
    [`[${failingAsk}]`, 'read_only', { action: 'ask', rule: 'bad', layer: 'run' }],
    [`[${failingAsk}, { id: last, pattern: "*", action: allow }]`, 'write', { action: 'ask', rule: 'bad' }],
    [`[${failingAsk}, { id: last, pattern: "*", action: ask }]`, 'write', { action: 'ask', rule: 'bad' }],
    [`[{ id: first, pattern: "*", action: deny }, ${failingAsk}]`, 'write', { action: 'deny', rule: 'first' }],
    [`[${failingDeny}]`, 'read_only', { action: 'deny', rule: 'bad', layer: 'run' }],
    [`[${failingDeny}, { id: last, pattern: "*", action: allow }]`, 'write', { action: 'deny', rule: 'bad' }],
    [`[${failingDeny}, { id: last, pattern: "*", action: deny }]`, 'write', { action: 'deny', rule: 'last' }],
    [`[{ id: no, pattern: "*", action: deny }, ${failing}]`, 'write', { action: 'deny', rule: 'no' }],
    [
      `[{ id: no, pattern: "*", action: deny }, ${failing}, { pattern: "*", action: allow }]`,
      'write',
      { action: 'deny', rule: 'no' },
    ],
    [
      `[{ id: one, pattern: "*", action: deny }, { id: two, pattern: "t*", action: deny }, ${failing}, { pattern: "*", action: ask }]`,
      'write',
      { action: 'deny', rule: 'two' },
    ],
    [`[{ id: other, pattern: "x:*", action: allow }]`, 'read_only', { action: 'allow', rule: null }],
  ])('%s, risk %s', (rules, risk, expected) => {
    expect(rule({ run: `rules: ${rules}` }, { ...call, risk })).toMatchObject(expected);
  });

  test.each([failing, failingAsk, failingDeny])('the reason names the rule and the argument: %s', (each) => {
    expect(rule({ run: `rules: [${each}]` }, call).reason).toBe(
      `rule bad cannot be evaluated: argument 'missing' is missing`,
    );
  });

  test.each<[string, string, JsonObject, string]>([
    [
      'a value that cannot be read',
      'args: { to: "a*" }',
      { to: '\ufdd0' },
      "argument 'to': the text holds U+FDD0, which is reserved",
    ],
    [
      'a value that is too long',
      `args: { to: "${'*a'.repeat(16)}" }`,
      { to: 'a'.repeat(300_000) },
      "argument 'to': a text of 300000 characters is too long for a pattern of 32",
    ],
    [
      'an element of a list',
      'args: { to: "a*" }',
      { to: ['b', '\ufdd0'] },
      "argument 'to': the text holds U+FDD0, which is reserved",
    ],
    ['a missing argument', 'args: { to: "a*" }', {}, "argument 'to' is missing"],
  ])('a deny: %s', (_, keys, args, problem) => {
    const run = `{ mode: bypassPermissions, rules: [{ pattern: "*", action: allow }, { id: no, pattern: tool, ${keys}, action: deny }] }`;
    expect(rule({ run }, { args })).toMatchObject({
      action: 'deny',
      reason: `rule no cannot be evaluated: ${problem}`,
    });
  });

  test.each<[Rule['action'], string]>([
    ['allow', 'allow'],
    ['ask', 'ask'],
    ['deny', 'deny'],
  ])('a pattern that no parser would accept keeps its place: %s', (action, answer) => {
    const run = compilePolicy(
      { version: 1, rules: [{ pattern: '[z-a]', action }], riskDefaults: {}, approval: {} },
      'run',
    );
    expect(evaluate({ run }, { tool: 'm', args: {}, risk: 'read_only' }).action).toBe(answer);
  });

  test('a rule for an agent denies where the agent is not known', () => {
    const run = 'agents: { intern: { rules: [{ pattern: tool, action: deny }] } }';
    expect(rule({ run }, {})).toMatchObject({ action: 'deny', rule: 'run.intern#1' });
  });
});

describe('a pattern on a list', () => {
  const evil = '*@evil.example';
  const acme = '*@acme.com';
  test.each<[string, Rule['action'], JsonObject['to'], 'matches' | 'does not']>([
    [evil, 'deny', ['x@evil.example'], 'matches'],
    [evil, 'ask', ['a@acme.com', 'x@evil.example', 'b@acme.com'], 'matches'],
    [evil, 'deny', ['a@acme.com', [['x@evil.example']]], 'matches'],
    [evil, 'deny', ['a@acme.com'], 'does not'],
    [evil, 'deny', [], 'does not'],
    ['[[]"a",*', 'deny', ['a', 'b'], 'matches'],
    ['5', 'deny', [4, 5], 'matches'],
    ['{"a":*', 'deny', [{ a: 1 }], 'matches'],
    [acme, 'allow', ['a@acme.com', 'b@acme.com'], 'matches'],
    [acme, 'allow', ['a@acme.com', 'x@evil.example'], 'does not'],
    [acme, 'allow', ['x@evil.example', ['a@acme.com']], 'does not'],
    ['*@acme.com"]', 'allow', ['x@evil.example', 'a@acme.com'], 'does not'],
    ['*', 'allow', ['a', 'b'], 'matches'],
    ['*', 'allow', [], 'matches'],
    [acme, 'allow', [], 'does not'],
    [acme, 'allow', [[], 'a@acme.com'], 'does not'],
    [acme, 'allow', [['a@acme.com', [[]]]], 'does not'],
    [acme, 'allow', [['a@acme.com']], 'matches'],
    ['*', 'allow', [[], 'a'], 'matches'],
    [evil, 'deny', [[], 'x@evil.example'], 'matches'],
    ['[[]"a","b"]', 'allow', ['a', 'b'], 'matches'],
    ['a', 'allow', ['a', 'a'], 'matches'],
    ['[[]"[*]"]', 'allow', ['*'], 'matches'],
  ])('%s, %s, %j: %s', (glob, action, to, expected) => {
    const answers = [
      `{ pattern: tool, args: { to: ${JSON.stringify(glob)} }`,
      `{ pattern: ${JSON.stringify(`tool:${glob}`)}`,
    ].map(
      (start) =>
        rule(
          {
            run: `{ risk_defaults: { write: ${action === 'allow' ? 'deny' : 'allow'} }, rules: [${start}, id: it, action: ${action} }] }`,
          },
          { args: { to: to! }, subject: 'to' },
        ).rule,
    );
    expect(answers).toEqual(Array(2).fill(expected === 'matches' ? 'it' : null));
  });

  test.each<[boolean, string, JsonObject['to'], string]>([
    [true, acme, ['a@acme.com'], 'allow'],
    [true, acme, ['a@acme.com', 'x@evil.example'], 'ask'],
    [true, exactGlob(['a@acme.com', 'b@acme.com'])!, ['a@acme.com', 'b@acme.com'], 'allow'],
    [true, exactGlob(['a@acme.com', 'b@acme.com'])!, ['a@acme.com', 'x@evil.example'], 'ask'],
  ])('a grant answers a list by every element: %s %s %j %s', (approved, glob, to, action) => {
    const grants = [
      { grantId: 'g', tool: 'tool', approved, scope: { kind: 'arguments', match: { to: glob } } } as const,
    ];
    expect(evaluate({}, { tool: 'tool', args: { to: to! }, risk: 'write' }, { grants }).action).toBe(action);
  });

  test('an empty list in a list is an element', () => {
    const run = `rules: [{ pattern: tool, args: { to: '${acme}' }, action: allow }]`;
    expect(rule({ run }, { args: { to: [[], 'a@acme.com'] } }).action).toBe('ask');
  });

  test('a long list of short elements costs as much as a long text, and is refused like one', () => {
    const rules = Array.from(
      { length: 200 },
      (_, index) => `{ pattern: tool, args: { to: "x${index}*" }, action: deny }`,
    );
    const to = Array.from({ length: 20_000 }, () => 'a');
    expect(rule({ run: `rules: [${rules.join(', ')}]` }, { args: { to } })).toMatchObject({
      action: 'deny',
      reason: expect.stringContaining('too long for so many rules') as string,
    });
  });
});

describe('the engine (I12)', () => {
  interface Stored {
    name: string;
    ceiling?: object;
    run?: object;
    call: RuledCall;
    context?: RulingContext;
    /** By tool and argument; null: it is not known. */
    sums?: Record<string, Record<string, number | null>>;
    ruling: Ruling;
  }
  const { rulings } = JSON.parse(readFileSync(new URL('rulings.json', import.meta.url), 'utf8')) as {
    rulings: Stored[];
  };

  // Open runs rule with this engine. If a ruling changes, add a new engine instead of changing the expectation.
  test.each(rulings.map((each) => [each.name, each] as const))('a ruling of engine 1: %s', (_, stored) => {
    const { ceiling, run, call, context, sums, ruling } = stored;
    const sumOf = (tool: string, argument: string) => sums?.[tool]?.[argument] ?? undefined;
    const layers = {
      ...(ceiling && { ceiling: compiled(ceiling, 'ceiling') }),
      ...(run && { run: compiled(run, 'run') }),
    };
    expect(evaluate(layers, call, { ...context, ...(sums && { sumOf }), engine: 1 })).toStrictEqual(ruling);
  });

  test('whoever does not say what was admitted says that nothing was', () => {
    const run = compiled({ rules: [{ pattern: 't', when: 'sum("t", "amount") == 0.0', action: 'allow' }] }, 'run');
    expect(evaluate({ run }, { tool: 't', args: {}, risk: 'write' })).toMatchObject({ action: 'allow', rule: 'run#1' });
  });

  test('a condition that this version does not load is kept', () => {
    const run = compilePolicy(
      {
        version: 1,
        rules: [{ pattern: 'a', when: 'has(args.x) && args.x.matches("(")', action: 'deny' }],
        riskDefaults: { write: 'allow' },
        approval: {},
      },
      'run',
    );
    const answer = (args: JsonObject) => evaluate({ run }, { tool: 'a', args, risk: 'write' }).action;
    expect([answer({ x: '' }), answer({})]).toEqual(['deny', 'allow']);
  });

  test('a run that started with an engine that this version lacks is not ruled on by another', () => {
    const call: RuledCall = { tool: 't', args: {}, risk: 'write' };
    for (const number of [0, 2, 1.5]) {
      expect(() => evaluate({}, call, { engine: number })).toThrow(`ruling engine ${number} is not in this version`);
    }
    expect(engine).toBe(1);
    expect(evaluate({}, call)).toEqual(evaluate({}, call, { engine: 1 }));
  });
});
