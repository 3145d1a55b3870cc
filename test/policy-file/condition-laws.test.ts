/** What a condition is said to give before any call, against what it gives for calls. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { celArguments } from '../../src/core/match/cel.ts';
import { compileCondition, maxConditionWork, type ConditionVariables } from '../../src/core/match/condition.ts';
import { expressionOf, mayBe, onlyFails, outcomeOf } from '../../src/policy-file/condition-kinds.ts';
import { conditionProblem } from '../../src/policy-file/condition-problem.ts';
import { least, runs } from '../support/thorough.ts';

const constant = fc.constantFrom('1', '2.5', '3u', '"5"', '"a"', '"0x10"', 'true', 'false', 'null', '[1, "a"]', '[]');
const others = fc.constantFrom('{"a": 1}', 'b"x"', '1.0 / 0.0', '1 / 0', '-1', 'double("1e400")', '1e400');
const variable = fc.constantFrom('args', 'tool', 'risk', 'severity', 'agent', 'caller', 'metadata', 'counts');
const member = fc.constantFrom('args.a', 'args.b', 'caller.userId', 'caller.groups', 'counts.calls', 'metadata.a');
const odd = fc.constantFrom(
  'sum("pay", "a")',
  'counts.call',
  'caller.name',
  'args["a"]',
  'counts["calls"]',
  'args.a.b',
  'tool.a',
);
const atom = fc.oneof(
  { weight: 3, arbitrary: constant },
  { weight: 1, arbitrary: others },
  { weight: 1, arbitrary: variable },
  { weight: 4, arbitrary: member },
  { weight: 1, arbitrary: odd },
);
const operator = fc.constantFrom('==', '!=', '<', '>=', '+', '-', '*', '/', '%', 'in');
const method = fc.constantFrom('contains', 'startsWith', 'matches');
const macro = fc.constantFrom('all', 'exists', 'exists_one', 'filter', 'map');

const { expression } = fc.letrec<{ expression: string }>((tie) => {
  const inner = tie('expression');
  const made = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((each) => each.join(''));
  const text = (value: string) => fc.constant(value);
  return {
    expression: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      atom,
      made(
        text('('),
        inner,
        operator.map((each) => ` ${each} `),
        inner,
        text(')'),
      ),
      made(text('('), inner, fc.constantFrom(' && ', ' || '), inner, text(')')),
      made(text('('), inner, text(' ? '), inner, text(' : '), inner, text(')')),
      made(fc.constantFrom('!', '-'), text('('), inner, text(')')),
      made(fc.constantFrom('size', 'int', 'double', 'string'), text('('), inner, text(')')),
      made(text('has('), member, text(')')),
      made(text('('), inner, text(').'), method, text('('), inner, text(')')),
      made(text('('), inner, text(').'), macro, text('(x, '), inner, text(' == x || '), inner, text(')')),
      made(inner, text('['), inner, text(']')),
    ),
  };
});

const value = fc.constantFrom<unknown>(1, -2.5, 'a', '5', true, false, null, [], [1, 'a'], ['a'], { b: 1 }, {});
const context: fc.Arbitrary<ConditionVariables> = fc
  .record({
    args: fc.dictionary(fc.constantFrom('a', 'b'), value, { noNullPrototype: true }),
    metadata: fc.dictionary(fc.constantFrom('a', 'b'), value, { noNullPrototype: true }),
    caller: fc.constantFrom(null, { userId: 'a' }, { userId: 'ann', groups: ['a', 'b'] }),
    agent: fc.constantFrom(null, 'a'),
  })
  .map(({ args, ...rest }) => ({
    ...rest,
    args: celArguments(args as Parameters<typeof celArguments>[0]),
    tool: 'a',
    risk: 'write',
    severity: 'medium',
    counts: { calls: 1, asks: 0, denials: 0, irreversible: 0 },
  }));

test('law: no condition gives what it is said not to give, and one that is refused holds for no call', () => {
  const seen = { failing: 0, refused: 0, answered: 0 };
  fc.assert(
    fc.property(expression, fc.array(context, { minLength: 10, maxLength: 10 }), (source, contexts) => {
      const compiled = compileCondition(source);
      fc.pre(!('problem' in compiled));
      const said = outcomeOf(expressionOf(source)!);
      const problem = conditionProblem(source);
      // A comparison of a level that means something else may hold, and is refused all the same.
      const isRefused = problem !== undefined && !/^(orders|compares) (risk|severity) /.test(problem);
      for (const each of contexts) {
        const held = compiled.holds(each, { left: maxConditionWork }, () => 5);
        if (typeof held === 'boolean') {
          expect([source, each, held, mayBe(said, held ? 'true' : 'false')]).toEqual([source, each, held, true]);
        }
        if (isRefused) expect([source, held]).not.toEqual([source, true]);
        if (typeof held === 'boolean') seen.answered += 1;
        else if (onlyFails(said)) seen.failing += 1;
      }
      if (isRefused) seen.refused += 1;
    }),
    { numRuns: runs(2_000) },
  );
  expect(seen.failing).toBeGreaterThan(least(1_000));
  expect(seen.answered).toBeGreaterThan(least(1_000));
  expect(seen.refused).toBeGreaterThan(least(200));
});
