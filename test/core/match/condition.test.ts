import { celArguments } from '../../../src/core/match/cel.ts';
import { describe, expect, test, vi } from 'vitest';
import fc from 'fast-check';
import { compileCondition, maxConditionWork, type ConditionVariables } from '../../../src/core/match/condition.ts';
import type { Json, JsonObject } from '../../../src/core/base/tool-call.ts';
import { relativeCosts } from '../../support/processor-time.ts';
import { runs } from '../../support/thorough.ts';

const held = (source: string, args: JsonObject = {}, others: Partial<ConditionVariables> = {}) => {
  const condition = compileCondition(source);
  if ('problem' in condition) throw new Error(condition.problem);
  const budget = { left: maxConditionWork };
  const variables = {
    tool: 'pay',
    risk: 'write',
    severity: 'medium',
    agent: 'ops',
    caller: null,
    metadata: {},
    counts: { calls: 2, asks: 0, denials: 0, irreversible: 0 },
    ...others,
    args: celArguments(args),
  };
  return condition.holds(variables, budget);
};

describe('the value of a condition', () => {
  test.each<[string, JsonObject, boolean]>([
    ['args.amount > 10000', { amount: 10_000.5 }, true],
    ['args.amount > 10000', { amount: 10_000 }, false],
    [
      'args.amount + 1 == 3 && 2 * args.amount == 4 && args.amount / 4 == 0.5 && 5 - args.amount == 3',
      { amount: 2 },
      true,
    ],
    ['has(args.limit) && "limit" in args && args.limit == null', { limit: null }, true],
    ['has(args.a.b) || "b" in args.a', { a: {} }, false],
    ['args.list.exists(x, has(x.a) && x.a)', { list: [{}, { a: true }] }, true],
    ['args.list[1] == "b" && size(args.list) == 2', { list: ['a', 'b'] }, true],
    ['"b" in args.list && !("c" in args.list)', { list: ['a', 'b'] }, true],
    ['args.list.exists(x, x.startsWith("b"))', { list: ['a', 'b'] }, true],
    ['args.list.all(x, x.startsWith("b"))', { list: ['a', 'b'] }, false],
    ['args.list.filter(x, x > 1).map(x, x * 2) == [4.0, 6.0]', { list: [1, 2, 3] }, true],
    ['args.list.exists_one(x, x == 1)', { list: [1, 2] }, true],
    ['has(args.to) ? args.to.endsWith("@acme.com") : false', {}, false],
    ['args.text.contains("x") || args.text.matches("^a+$")', { text: 'aaa' }, true],
    ['args.text.lowerAscii() == "abc"', { text: 'ABC' }, true],
    ['int(args.text) == 42 && double("1.5") > 1.0 && string(1) == "1"', { text: '42' }, true],
    ['args.nothing == null', { nothing: null }, true],
    ['args.map.a.b == {"c": 1}.c', { map: { a: { b: 1 } } }, true],
    ['tool == "pay" && risk == "write" && severity == "medium" && agent == "ops" && counts.calls == 2', {}, true],
    ['caller == null && size(metadata) == 0', {}, true],
    ['has(args.constructor) || has(args.toString) || "__proto__" in args', {}, false],
    ['args.x == 1 || true', {}, true],
    ['args.x == 1 && false', {}, false],
  ])('%s of %j: %s', (source, args, expected) => expect(held(source, args)).toBe(expected));

  test('what earlier calls add up to', () => {
    const condition = compileCondition("sum('pay', 'amount') + args.amount <= 10.0");
    if ('problem' in condition) throw new Error(condition.problem);
    const holds = (sum: number | undefined) => {
      const variables = { args: celArguments({ amount: 3 }) } as unknown as ConditionVariables;
      return condition.holds(variables, { left: maxConditionWork }, () => sum);
    };
    expect([7, 7.001, undefined].map((sum) => holds(sum))).toEqual([
      true,
      false,
      {
        problem: "an earlier call has no number of at least 0 in 'amount' of 'pay'; it reads 'amount'",
      },
    ]);
    // Without sums, as outside a run.
    expect(held("sum('pay', 'amount') == 0.0")).toHaveProperty('problem');
  });

  test('a caller with groups', () => {
    const caller = { userId: 'ann', groups: ['finance'] };
    expect(held('caller.userId == "ann" && "finance" in caller.groups', {}, { caller })).toBe(true);
  });
});

describe('what it cannot evaluate', () => {
  test.each<[string, JsonObject, string]>([
    ['args.amount > 1', {}, "'amount' is missing"],
    ['args.amount > 1', { amount: '2' }, "_>_ does not work on (string, int); it reads 'amount'"],
    ['args.constructor == 1', {}, "'constructor' is missing"],
    ['args[args.key] == 1', { key: 'a secret' }, "something that its condition reads is missing; it reads 'key'"],
    ['args.amount', { amount: 2 }, 'its condition is neither true nor false'],
    ['caller.userId == "ann"', {}, "'userId' is missing"],
    ['1 / 0 == 1', {}, 'its condition fails on these arguments'],
    ['int(args.text) == 1', { text: 'a secret' }, "something that it reads is not a number; it reads 'text'"],
    [
      'args.text.matches(args.pattern)',
      { text: '', pattern: '(?=secret)' },
      "its condition fails on these arguments; it reads 'text', 'pattern'",
    ],
    ['args.list[5] == 1', { list: [] }, "its condition fails on these arguments; it reads 'list'"],
  ])('%s of %j', (source, args, problem) => {
    expect(held(source, args)).toEqual({ problem });
    expect(problem).not.toContain('secret');
  });
});

test.each<Json>(['{"b":true}', [{ b: true }], 5, null])('has(args.a.b) cannot be evaluated on %j', (a) => {
  const problem = "has() reads a member of what is no object; it reads 'a'";
  expect(held('has(args.a.b) && args.a.b', { a })).toEqual({ problem });
});

describe('texts are numbers only if CEL says so', () => {
  const problem = "something that it reads is not a number; it reads 'n'";
  test.each(['20,000', '', ' 5', '0x10', 'NaN', 'Infinity', '-inf', '1_000', '1e', 'five', '١٢'])('double(%j)', (n) => {
    expect(held('double(args.n) > 10.0', { n })).toEqual({ problem });
    expect(held('double(args.n) <= 10.0', { n })).toEqual({ problem });
  });
  test.each(['20,000', '', ' 5', '0x10', '0b1', '1.5', '1e3', '5n'])('int(%j)', (n) => {
    expect(held('int(args.n) > 10', { n })).toEqual({ problem });
  });
  test.each<[string, string, number]>([
    ['double', '20000', 20_000],
    ['double', '-1.5e3', -1_500],
    ['double', '.5', 0.5],
    ['double', '+5.', 5],
    ['int', '-42', -42],
    ['int', '+42', 42],
  ])('%s(%j) is %d', (name, n, value) => expect(held(`${name}(args.n) == ${value.toFixed(1)}`, { n })).toBe(true));
  test('0.0 / 0.0 is no number', () => {
    expect(held('args.n / args.n > 1.0', { n: 0 })).toEqual({ problem });
  });
});

describe('a regular expression costs what its program takes', () => {
  const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
  test.each<[string, string]>([
    ['^https?://169[.]254[.]169[.]254(/|$)', 'http://169.254.169.254/latest'],
    ['^20[0-9]{2}-[01][0-9]-[0-3][0-9]$', '2026-01-02'],
    ['^[^/]*(/[^/]+)+/tmp/[a-f0-9]{64}/plans/[a-zA-Z0-9_-]+[.]md$', `/home/u/tmp/${'a'.repeat(64)}/plans/x.md`],
    [`^${uuid}$`, '123e4567-e89b-12d3-a456-426614174000'],
    ['^([0-9a-f]{4}-){3}[0-9a-f]{12}$', 'e89b-12d3-a456-426614174000'],
  ])('%s is affordable twenty times', (expression, s) => {
    const one = `args.s.matches("${expression}")`;
    expect(held(one, { s })).toBe(true);
    const budget = { left: maxConditionWork };
    const condition = compileCondition(one);
    if ('problem' in condition) throw new Error(condition.problem);
    const variables = { args: celArguments({ s }) } as unknown as ConditionVariables;
    for (let count = 0; count < 20; count += 1) expect(condition.holds(variables, budget)).toBe(true);
  });
});

describe('refused when the policy loads', () => {
  test.each([
    ['', 'is empty'],
    ['args.amount >', 'is not CEL: 1:'],
    ['amount > 1', "reads 'amount'; it can read args, tool, risk, severity, agent, caller, metadata, counts"],
    ['args.all(x, y)', "reads 'y'"],
    ['foo(1)', "uses 'foo', which is not part of the language"],
    ['timestamp("2020-01-01T00:00:00Z").getHours("Europe/Paris") == 1', "uses 'getHours'"],
    ['duration("1s") == duration("1s")', "uses 'duration'"],
    ['google.protobuf.Struct{} == args', "makes a 'google.protobuf.Struct'"],
    ['args.?a == 1', 'is not'],
    ['"\ud800" == args.x', 'holds half a surrogate pair'],
    ...[
      `sum(tool, 'amount')`,
      `sum('pay', args.x)`,
      `sum('pay*', 'a')`,
      `sum('', 'a')`,
      `sum('pay')`,
      `args.sum('pay', 'a')`,
    ].map((sum): [string, string] => [`${sum} > 1.0`, 'has a sum of what is no tool and no argument']),
    [' '.repeat(1_000) + 'true', 'has 1004 characters; at most 1000 are allowed'],
  ])('%s', (source, problem) => {
    expect(compileCondition(source)).toHaveProperty('problem', expect.stringContaining(problem));
  });
});

describe('hostile conditions terminate', () => {
  const many = Array.from({ length: 5_000 }, (_, index) => index);
  const costly = { problem: 'its conditions are too costly for these arguments' };
  test.each<[string, string, JsonObject]>([
    ['a backtracking trap over 1 MB', 'args.s.matches("(a+)+$")', { s: `${'a'.repeat(1_000_000)}b` }],
    ['counted repetitions', 'args.s.matches("(a?){1000}a{1000}")', { s: 'a'.repeat(10_000) }],
    ['a pattern out of the arguments', 'args.s.matches(args.p)', { s: 'a'.repeat(1_000), p: '((a{10}){10}){10}' }],
    ['three loops in each other', 'args.l.all(a, args.l.all(b, args.l.all(c, true)))', { l: many }],
    ['loops whose steps fail', 'args.l.all(a, args.l.all(b, args.l.all(c, c.x)))', { l: many }],
    ['a doubled text', `[args.s]${'.map(x, x + x)'.repeat(40)}[0] == ""`, { s: 'a' }],
    ['a doubled list', `[args.l]${'.map(x, x + x)'.repeat(40)}[0] == []`, { l: [1] }],
    ['lists of lists', 'args.l.map(x, args.l) == args.l.map(x, args.l)', { l: many }],
    ['a number of a million digits', 'int(args.s) == 1', { s: '9'.repeat(1_000_000) }],
  ])('%s', (_, source, args) => expect(held(source, args)).toEqual(costly));

  test('an honest condition over many values is affordable', () => {
    const people = Array.from({ length: 1_000 }, (_, index) => `person${index}@acme.com`);
    expect(held('args.people.all(p, p.endsWith("@acme.com"))', { people })).toBe(true);
    expect(held('args.text.matches("^[a-z ]+$")', { text: 'a '.repeat(5_000) })).toBe(true);
  });

  test('conditions share one budget', () => {
    const condition = compileCondition('args.l.all(x, x >= 0)');
    if ('problem' in condition) throw new Error(condition.problem);
    const budget = { left: 10_000 };
    const variables = { args: { l: many.slice(0, 2_000) } } as unknown as ConditionVariables;
    expect(condition.holds(variables, budget)).toBe(true);
    expect(condition.holds(variables, budget)).toEqual(costly);
    expect(condition.holds(variables, { left: 10_000 })).toBe(true);
  });

  test('any text is either a condition or refused, and never throws', () => {
    const words = [
      'args',
      '.',
      'x',
      '(',
      ')',
      '[',
      ']',
      '==',
      '1',
      '"',
      'all',
      ',',
      '&&',
      '!',
      '?',
      ':',
      '{',
      '}',
      'in',
      ' ',
    ];
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.array(fc.constantFrom(...words), { maxLength: 30 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, fc.dictionary(fc.string(), fc.jsonValue()), (source, args) => {
        const condition = compileCondition(source);
        if ('problem' in condition) return;
        const result = condition.holds({ args: celArguments(args as JsonObject) } as unknown as ConditionVariables, {
          left: maxConditionWork,
        });
        expect(typeof result === 'boolean' || typeof result.problem === 'string').toBe(true);
      }),
      { numRuns: runs(500) },
    );
  });
});

test('what is read within a large map is converted once, not again for each read', () => {
  const args = { m: Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`k${index}`, index])) };
  const from = vi.spyOn(Object, 'entries');
  const compiled = compileCondition('args.m.all(k, args.m[k] >= 0.0)');
  if ('problem' in compiled) throw new Error(compiled.problem);
  const variables = { args: celArguments(args) } as unknown as ConditionVariables;
  expect(compiled.holds(variables, { left: maxConditionWork })).toBe(true);
  expect(from.mock.calls.filter(([value]) => value === args.m)).toHaveLength(1);
});

test.each(['size(args.s) > 5.0', 'args.s.lowerAscii() == "a"'])('%s costs what its characters take', (when) => {
  const compiled = compileCondition(when);
  if ('problem' in compiled) throw new Error(compiled.problem);
  const variables = { args: celArguments({ s: 'A'.repeat(100_000) }) } as unknown as ConditionVariables;
  const budget = { left: maxConditionWork };
  compiled.holds(variables, budget);
  expect(maxConditionWork - budget.left).toBeGreaterThan(5_000);
});

test('tests for members in each other are read once each', () => {
  const nested = `${'has('.repeat(40)}args.a${').b'.repeat(39)})`;
  expect(held(nested, { a: 1 })).toHaveProperty('problem');
  expect(held('has(args.a) && has(args.a.b)', { a: { b: 1 } })).toBe(true);
});

describe('a condition takes about as long as it pays', () => {
  const repeated = (part: string, operator: string) => Array.from({ length: 80 }, () => part).join(operator);
  test('no step takes many times as long as the median one of plain loops', () => {
    const plain = {
      'compare each': 'args.l.all(x, x >= 0.0 && x < 9000.0)',
      'keep some': 'size(args.l.filter(x, x >= 0.0)) > 5',
      'compute each': 'size(args.l.map(x, x * 2.0)) > 5',
    };
    const others = {
      'miss a field': 'args.l.exists(x, x.a > 1.0 || x.b > 1.0 || x.c > 1.0)',
      'miss many': `args.l.exists(x, ${repeated('x.z==1', '||')})`,
      'are over what is neither true nor false': `args.l.exists(x, ${repeated('x', '||')})`,
      'compare other types': `args.l.exists(x, ${repeated('x>"1"', '||')})`,
      'read long paths': `args.l.all(x, args${'.a'.repeat(400)} == 1.0 || true)`,
      'put maps into a list': 'size(args.l.map(x, {"a": x, "b": x})) > 5',
      'put lists together': 'args.l.all(x, size(args.l + args.l + args.l) > 0)',
    };
    const l = Array.from({ length: 8_000 }, (_, index) => index);
    const variables = { args: celArguments({ l, a: {} }) } as unknown as ConditionVariables;
    const evaluated = Object.values({ ...plain, ...others }).map((condition) => {
      const compiled = compileCondition(condition);
      if ('problem' in compiled) throw new Error(compiled.problem);
      const evaluate = (budget = { left: maxConditionWork }): number => {
        compiled.holds(variables, budget);
        return maxConditionWork - budget.left;
      };
      return { work: () => void evaluate(), steps: evaluate() };
    });
    const costs = relativeCosts(evaluated.map(({ work }) => work));
    const ofSteps = costs.map((cost, at) => cost / evaluated[at]!.steps);
    const [, median] = ofSteps.slice(0, 3).toSorted((one, other) => one - other);
    const times = Object.keys(others).map((name, at) => [name, ofSteps[at + 3]! / median!] as const);
    // The dearest takes five times as long. Errors that record a stack, and parts that are not paid for, take 40 times.
    expect(times.filter(([, each]) => each > 15)).toEqual([]);
  });

  test('everyday loops pay no more than before', () => {
    const rows = Array.from({ length: 8_000 }, () => ({ amount: 1, price: 2, total: 3 }));
    expect(held('args.rows.exists(r, r.amount > 100.0 || r.price > 100.0 || r.total > 100.0)', { rows })).toBe(false);
    expect(held('size(args.rows.filter(r, r.amount > 0.0)) == 1500', { rows: rows.slice(0, 1_500) })).toBe(true);
  });
});
