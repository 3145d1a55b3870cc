import { describe, expect, test } from 'vitest';
import { drawRuns } from '../../bench/plot-runs.ts';
import { verdictsOf, type RunsMeasured } from '../../bench/verdicts.ts';

const good: RunsMeasured = {
  events: {
    rows: [
      { name: '1 allowed', addedTotal: 0, budget: 0 },
      { name: '1 asked', addedTotal: 10, budget: 10 },
      { name: 'without a budget', addedTotal: 99 },
    ],
  },
  latency: { b3: 1.15, b6: 1.2, reads: 3_000, budgets: { b3: 1.15, b6: 1.2 } },
  waiting: { memory: 1.5, processor: 1.15, budgets: { memory: 1.5, processor: 1.15 } },
  recovery: { runs: 1_000, lost: 0, notRun: 0, twice: 0, readyMs: 2_000, endedSeconds: { most: 30 } },
};
const missed = (measured: RunsMeasured): string[] =>
  verdictsOf(measured).flatMap(({ budget, kept }) => (kept ? [] : [budget]));

test('a measurement equal to its budget keeps it; one without a budget is not judged', () => {
  expect(verdictsOf(good).map(({ budget }) => budget)).toEqual(['B1', 'B2', 'B3', 'B5', 'B5', 'B6', 'B7']);
  expect(missed(good)).toEqual([]);
});

describe('a measurement above its budget is missed', () => {
  test.each<[string, RunsMeasured]>([
    ['B1', { ...good, events: { rows: [{ name: '1 allowed', addedTotal: 1, budget: 0 }] } }],
    ['B2', { ...good, events: { rows: [{ name: '1 asked', addedTotal: 11, budget: 10 }] } }],
    ['B3', { ...good, latency: { ...good.latency, b3: 1.16 } }],
    ['B5', { ...good, waiting: { ...good.waiting, memory: 1.51 } }],
    ['B5', { ...good, waiting: { ...good.waiting, processor: 1.16 } }],
    ['B6', { ...good, latency: { ...good.latency, b6: 1.21 } }],
    ['B7', { ...good, recovery: { ...good.recovery, lost: 1 } }],
    ['B7', { ...good, recovery: { ...good.recovery, notRun: 1 } }],
    ['B7', { ...good, recovery: { ...good.recovery, twice: 1 } }],
  ])('%s', (budget, measured) => expect(missed(measured)).toEqual([budget]));
});

test('a measurement that failed is missed, not kept', () => {
  expect(missed({ ...good, latency: { ...good.latency, b3: NaN } })).toEqual(['B3']);
});

test('the picture shows a missed budget in red', () => {
  const bars = (measured: RunsMeasured): number => drawRuns(verdictsOf(measured)).match(/fill="#b42318"/g)?.length ?? 0;
  expect(bars(good)).toBe(0);
  expect(bars({ ...good, recovery: { ...good.recovery, lost: 1 } })).toBe(1);
});
