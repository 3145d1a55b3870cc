import { expect, test } from 'vitest';
import fc from 'fast-check';
import { celArguments, parse } from '../../../src/core/match/cel.ts';
import { compileCondition, plainComparison, type ConditionVariables } from '../../../src/core/match/condition.ts';
import type { Json, JsonObject } from '../../../src/core/base/tool-call.ts';
import { least, runs } from '../../support/thorough.ts';

const isPlain = (source: string): boolean => plainComparison(parse(source).expr) !== undefined;

test.each([
  'args.amount > 100',
  'args.amount != -1.5',
  '100 >= args.order.total',
  'args.to == "ann"',
  '"b" < args.name',
  '9007199254740991 > args.amount',
])('%s is evaluated without the library', (source) => expect(isPlain(source)).toBe(true));

test.each([
  'metadata.amount > 1',
  'args.amount > args.limit',
  'args["amount"] > 1',
  'args.amount + 1 > 1',
  'args.amount == null',
  'args.amount == true',
  'args.amount > 9007199254740992',
  '1 == 1',
  'has(args.amount)',
  'has(args.amount) == true',
  'args.amount > 1 && args.amount < 3',
  '!(args.amount > 1)',
  'args.list.size() > 1',
])('%s is left to the library', (source) => expect(isPlain(source)).toBe(false));

/** The answer of a comparison, and the rest of its budget. */
function answer(source: string, args: JsonObject, left: number): unknown {
  const condition = compileCondition(source);
  if ('problem' in condition) throw new Error(`${source}: ${condition.problem}`);
  const budget = { left };
  const held = condition.holds({ args: celArguments(args) } as unknown as ConditionVariables, budget);
  return [held, budget.left];
}

test("gives the library's answers at the library's cost, on 5,000 comparisons", () => {
  const field = fc.constantFrom('a', 'a', 'a', 'a', 'b', 'constructor', 'hasOwnProperty', '__proto__');
  const name = fc.oneof({ weight: 9, arbitrary: field }, fc.constant('$typeName'));
  const objectOf = (value: fc.Arbitrary<Json>) =>
    fc.dictionary(name, value, { maxKeys: 3, noNullPrototype: true }).map((made) => ({ ...made }));
  const scalar = fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom<Json[]>('', 'a', 'b', 'é', '\ud83d', '10', null, true, 2 ** 53, -0, 0.1, 1e300),
  );
  const value: fc.Arbitrary<Json> = fc.oneof(
    { weight: 6, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(scalar, { maxLength: 2 }) },
    { weight: 2, arbitrary: objectOf(scalar) },
  );
  const constant = fc.oneof(
    fc.integer({ min: -3, max: 3 }).map(String),
    fc.constantFrom('9007199254740993', '0.1', '1e300', '-0.0', '2u', '""', '"a"', "'é'", '"10"', 'null', 'true'),
  );
  const path = fc.array(field, { minLength: 1, maxLength: 2 }).map((names) => ['args', ...names].join('.'));
  const operator = fc.constantFrom('==', '!=', '<', '<=', '>', '>=');
  let said = 0;
  fc.assert(
    fc.property(
      fc.record({
        args: fc.tuple(objectOf(value), value).map(([one, a]) => ({ a, ...one })),
        constant,
        path,
        operator,
        flipped: fc.boolean(),
      }),
      fc.constantFrom(50_000, 50_000, 50_000, 0.3, 0.1, 0.05, 0, -1),
      ({ args, flipped, ...parts }, left) => {
        const source = flipped
          ? `${parts.constant} ${parts.operator} ${parts.path}`
          : `${parts.path} ${parts.operator} ${parts.constant}`;
        const found = answer(source, args, left);
        if (isPlain(source) && typeof (found as [unknown])[0] === 'boolean') said += 1;
        // The added term makes it a case for the library.
        expect(found).toEqual(answer(`${source} || false`, args, left));
      },
    ),
    { numRuns: runs(1_500) },
  );
  expect(said).toBeGreaterThan(least(60));
});
