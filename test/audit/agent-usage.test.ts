import { expect, test } from 'vitest';
import { agentUsage, type UsingRun } from '../../src/audit/agent-usage.ts';

const used = (inputTokens: number, outputTokens: number, cost?: object): UsingRun =>
  ({ agent: 'clerk', used: { usage: { inputTokens, outputTokens }, ...(cost && { cost }) } }) as UsingRun;
const euros = (amount: number, more: object = {}): object => ({ currency: 'EUR', amount, ...more });
const none = { agent: 'clerk', runs: 0, others: 0, inputTokens: 0, outputTokens: 0, costs: [], unpriced: 0 };

test.each<[string, UsingRun[], object[]]>([
  ['no run', [], []],
  ['a workflow of one’s own', [{}], []],
  ['an open run', [{ agent: 'clerk' }], [{ ...none, others: 1 }]],
  ['a run that another one called', [{ ...used(1, 1), isNested: true }], []],
  [
    'two runs with prices',
    [used(10, 5, euros(0.25)), used(1, 2, euros(0.5))],
    [{ ...none, runs: 2, inputTokens: 11, outputTokens: 7, costs: [euros(0.75)] }],
  ],
  [
    'prices in two currencies',
    [used(1, 1, euros(1)), used(1, 1, { currency: 'USD', amount: 2 })],
    [{ ...none, runs: 2, inputTokens: 2, outputTokens: 2, costs: [euros(1), { currency: 'USD', amount: 2 }] }],
  ],
  ['no prices', [used(1, 1)], [{ ...none, runs: 1, inputTokens: 1, outputTokens: 1, unpriced: 1 }]],
  [
    'a model without a price',
    [used(1, 1, euros(1, { unpriced: ['gpt'] }))],
    [{ ...none, runs: 1, inputTokens: 1, outputTokens: 1, costs: [euros(1)], unpriced: 1 }],
  ],
  [
    'costs that are none',
    [used(1, 1, { currency: '<b>', amount: 1 }), used(1, 1, euros(1e308)), used(1, 1, euros(1e308))],
    [{ ...none, runs: 3, inputTokens: 3, outputTokens: 3, costs: [euros(1e308)], unpriced: 2 }],
  ],
  [
    'more tokens than a number can count',
    [used(Number.MAX_SAFE_INTEGER, 0), used(5, 0), used(7, 1)],
    [{ ...none, runs: 3, inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: 1, unpriced: 3 }],
  ],
  [
    'the agent with most tokens first',
    [used(1, 1), { ...used(2, 2), agent: 'boss' }],
    [
      { ...none, agent: 'boss', runs: 1, inputTokens: 2, outputTokens: 2, unpriced: 1 },
      { ...none, runs: 1, inputTokens: 1, outputTokens: 1, unpriced: 1 },
    ],
  ],
])('%s', (_what, runs, rows) => {
  expect(agentUsage(runs)).toEqual(rows);
});
