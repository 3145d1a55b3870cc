import { expect, test } from 'vitest';
import { costOf, type SpentCost, withModelCost, withNestedCost } from '../../../src/core/policy/run-cost.ts';
import type { Prices } from '../../../src/core/policy/policy.ts';

const prices: Prices = {
  currency: 'EUR',
  models: { big: { input: 3, cachedInput: 0.3, output: 15 }, small: { input: 1, output: 2 } },
};
const tokens = (inputTokens: number, outputTokens: number, cachedInputTokens?: number) => ({
  inputTokens,
  outputTokens,
  ...(cachedInputTokens !== undefined && { cachedInputTokens }),
});

test.each<[string, string | undefined, ReturnType<typeof tokens>, SpentCost]>([
  ['input and output', 'big', tokens(1_000_000, 100_000), { amount: 4.5, unpriced: [] }],
  ['cached input', 'big', tokens(1_000_000, 0, 500_000), { amount: 1.65, unpriced: [] }],
  ['cached input without a price of its own', 'small', tokens(1_000_000, 0, 500_000), { amount: 1, unpriced: [] }],
  ['more cached than there is', 'big', tokens(1_000_000, 0, 9e9), { amount: 0.3, unpriced: [] }],
  ['as many tokens in as out', 'small', tokens(1_000_000, 1_000_000), { amount: 3, unpriced: [] }],
  ['a model without a price', 'other', tokens(10, 10), { amount: 0, unpriced: ['other'] }],
  [
    'a model with the name of what every object has',
    'constructor',
    tokens(1, 1),
    { amount: 0, unpriced: ['constructor'] },
  ],
  ['a model that reports no tokens', 'big', tokens(0, 0), { amount: 0, unpriced: ['big'] }],
  ['a worker that does not name the model', undefined, tokens(1, 1), { amount: 0, unpriced: ['a model'] }],
  ['what is no number of tokens', 'big', tokens(NaN, -5), { amount: 0, unpriced: ['big'] }],
])('%s', (_, model, usage, spent) => expect(withModelCost(undefined, prices, model, usage)).toEqual(spent));

test('without prices every model is without one, and a run has no cost', () => {
  const spent = withModelCost(undefined, undefined, 'big', tokens(1, 1));
  expect(spent.unpriced).toEqual(['big']);
  expect(costOf(undefined, spent)).toEqual({});
  expect(costOf(prices, spent)).toEqual({ cost: { amount: 0, currency: 'EUR', unpriced: ['big'] } });
  expect(costOf(prices, { amount: 1, unpriced: [] })).toEqual({ cost: { amount: 1, currency: 'EUR' } });
});

test('a worker that does not name the model has none that is called so', () => {
  const named: Prices = { currency: 'EUR', models: { undefined: { input: 3, output: 3 } } };
  expect(withModelCost(undefined, named, undefined, tokens(1, 1))).toEqual({ amount: 0, unpriced: ['a model'] });
});

test.each<[string, object | undefined, SpentCost]>([
  ['what it says', { amount: 2, currency: 'EUR' }, { amount: 3, unpriced: [] }],
  ['what it does not know', { amount: 2, currency: 'EUR', unpriced: ['x'] }, { amount: 3, unpriced: ['x'] }],
  ['that it cost nothing', { amount: 0, currency: 'EUR' }, { amount: 1, unpriced: [] }],
  ['another currency', { amount: 2, currency: 'USD' }, { amount: 1, unpriced: ['agent clerk'] }],
  ['an amount that gives back', { amount: -2, currency: 'EUR' }, { amount: 1, unpriced: ['agent clerk'] }],
  ['what is no amount', { amount: '2', currency: 'EUR' }, { amount: 1, unpriced: ['agent clerk'] }],
  ['what is no list', { amount: 2, currency: 'EUR', unpriced: 7 }, { amount: 3, unpriced: ['agent clerk'] }],
  ['what are no names', { amount: 2, currency: 'EUR', unpriced: [7] }, { amount: 3, unpriced: ['agent clerk'] }],
  ['nothing', undefined, { amount: 1, unpriced: ['agent clerk'] }],
])('a nested run adds %s', (_, cost, spent) =>
  expect(withNestedCost({ amount: 1, unpriced: [] }, prices, 'clerk', cost)).toEqual(spent),
);

test('without prices and without a model call, a run has no cost', () => {
  expect(withNestedCost(undefined, undefined, 'clerk', { amount: 2, currency: 'EUR' })).toEqual({
    amount: 0,
    unpriced: ['agent clerk'],
  });
  expect(costOf(prices, undefined)).toEqual({});
});

test('names of models stay few and short', () => {
  let spent: SpentCost | undefined;
  for (let index = 0; index < 40; index += 1) {
    spent = withModelCost(spent, prices, `${index}-${'x'.repeat(1_000)}`, tokens(1, 1));
  }
  expect(spent!.unpriced).toHaveLength(20);
  expect(Math.max(...spent!.unpriced.map(({ length }) => length))).toBe(100);
});
