import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parsePolicy } from '../../../src/core/policy-file/parse-policy.ts';
import {
  compilePolicy,
  engine,
  evaluate,
  type CompiledPolicy,
  type RuledCall,
  type Ruling,
  type RulingContext,
} from '../../../src/core/policy/ruling.ts';
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

describe('a rule that cannot be evaluated asks, and never hides a deny', () => {
  const failing = '{ id: bad, pattern: "tool:*", action: allow }';
  const call: Partial<RuledCall> = { subject: 'missing' };
  test.each<[string, Risk, Partial<Ruling>]>([
    [`[${failing}]`, 'read_only', { action: 'ask', rule: 'bad', layer: 'run' }],
    [`[${failing}]`, 'destructive', { action: 'deny', rule: null, layer: 'default' }],
    [`[${failing}, { id: last, pattern: "*", action: allow }]`, 'write', { action: 'ask', rule: 'bad' }],
    [`[${failing}, { id: last, pattern: "*", action: ask }]`, 'write', { action: 'ask', rule: 'last' }],
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

  test('the reason names the rule and the cause', () => {
    expect(rule({ run: `rules: [${failing}]` }, call).reason).toBe(
      `rule bad cannot be evaluated: argument 'missing' is missing`,
    );
  });

  test('a pattern that no parser would accept keeps its place and asks', () => {
    const run = compilePolicy(
      { version: 1, rules: [{ pattern: '[z-a]', action: 'allow' }], riskDefaults: {}, approval: {} },
      'run',
    );
    expect(evaluate({ run }, { tool: 'm', args: {}, risk: 'read_only' })).toMatchObject({
      action: 'ask',
      rule: 'run#1',
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
    ruling: Ruling;
  }
  const storedIn = (file: string): Stored[] =>
    (JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as { rulings: Stored[] }).rulings;
  const again = ({ ceiling, run, call, context }: Stored, number: number): Ruling => {
    const layers = {
      ...(ceiling && { ceiling: compiled(ceiling, 'ceiling') }),
      ...(run && { run: compiled(run, 'run') }),
    };
    return evaluate(layers, call, { ...context, engine: number });
  };
  const common = storedIn('rulings.json');
  const ofEngine2 = storedIn('rulings-2.json');

  // Open runs rule with these engines. If a ruling changes, add a new engine instead of changing the expectation.
  test.each([1, 2].flatMap((number) => common.map((each) => [number, each.name, each] as const)))(
    'a ruling that the engines share, by engine %i: %s',
    (number, _, each) => expect(again(each, number)).toStrictEqual({ ...each.ruling, engine: number }),
  );
  test.each(ofEngine2.map((each) => [each.name, each] as const))('a ruling of engine 2: %s', (_, each) => {
    expect(again(each, 2)).toStrictEqual(each.ruling);
  });

  test('a run that started with an engine that this version lacks is not ruled on by another', () => {
    const call: RuledCall = { tool: 't', args: {}, risk: 'write' };
    for (const number of [0, 3]) {
      expect(() => evaluate({}, call, { engine: number })).toThrow(`ruling engine ${number} is not in this version`);
    }
    expect(engine).toBe(2);
    expect(evaluate({}, call)).toEqual(evaluate({}, call, { engine: 2 }));
  });
});
