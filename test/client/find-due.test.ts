import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { findDue, lastInstantMs } from '../../src/client/inbox/inbox-batches.ts';

const dayMs = 86_400_000;
const nowMs = Date.UTC(2026, 0, 2);

/** A search among these deadlines, and the number of counts that it took. */
async function search(dues: number[], least: number, from: Partial<Parameters<typeof findDue>[0]> = {}) {
  const most = least + Math.max(20, Math.ceil(least / 2));
  let counts = 0;
  const count = async (upToMs: number): Promise<number> => {
    counts += 1;
    return dues.filter((dueMs) => dueMs <= upToMs).length;
  };
  const upToMs = await findDue({ count, least, most, firstMs: nowMs, lowMs: nowMs, stepMs: 60_000, ...from });
  return {
    upToMs,
    found: upToMs === undefined ? undefined : dues.filter((dueMs) => dueMs <= upToMs).length,
    most,
    counts,
  };
}

const spread = (count: number, fromMs: number, widthMs: number): number[] =>
  Array.from({ length: count }, (_, index) => fromMs + Math.floor((index * widthMs) / count));

/** As a caller begins that has seen the newest runs only. */
const newest = (dues: number[], seen: number) => {
  const sample = dues.slice(-seen);
  const spanMs = sample.at(-1)! - sample[0]!;
  return { firstMs: sample[0]!, lowMs: nowMs, stepMs: spanMs + 1_000, perRunMs: spanMs / (sample.length - 1) };
};

describe('findDue', () => {
  test.each([
    ['one time-out, started within a minute', spread(10_000, nowMs + 30 * dayMs, 60_000)],
    ['one time-out, started in a month', spread(10_000, nowMs + dayMs, 30 * dayMs)],
    ['all overdue', spread(10_000, nowMs - 3 * dayMs, dayMs)],
    ['two time-outs', [...spread(5_000, nowMs + 300_000, 60_000), ...spread(5_000, nowMs + 90 * dayMs, 60_000)]],
    ['most in a crowd, few before', [...spread(50, nowMs, dayMs), ...spread(9_000, nowMs + 20 * dayMs, 1_000)]],
  ])('%s: about as many as wanted, in few counts', async (_name, dues) => {
    const { found, most, counts } = await search(dues, 100, newest(dues, 100));
    expect(found).toBeGreaterThanOrEqual(100);
    expect(found).toBeLessThanOrEqual(most);
    expect(counts).toBeLessThanOrEqual(30);
  });

  test('from where the last search ended, one count is enough', async () => {
    const dues = spread(10_000, nowMs + 30 * dayMs, 60_000);
    const { upToMs } = await search(dues, 100, newest(dues, 100));
    expect(await search(dues, 100, { firstMs: upToMs! })).toMatchObject({ upToMs, counts: 1 });
  });

  test('undefined if fewer are due at all; more than wanted if they are due at the same millisecond', async () => {
    expect(await search(spread(99, nowMs, dayMs), 100)).toMatchObject({ upToMs: undefined });
    expect(await search([], 1)).toMatchObject({ upToMs: undefined });
    const same = Array.from({ length: 5_000 }, () => nowMs + dayMs);
    expect(await search(same, 100)).toMatchObject({ upToMs: nowMs + dayMs, found: 5_000 });
  });

  test('whatever the deadlines and the beginning: enough are found, or there are not enough', async () => {
    const instant = fc.integer({ min: 0, max: lastInstantMs });
    const near = fc.integer({ min: nowMs, max: nowMs + 2_000 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(instant, near), { maxLength: 80 }),
        fc.integer({ min: 1, max: 40 }),
        fc.record({ firstMs: instant, lowMs: instant, stepMs: fc.integer({ min: 1, max: dayMs }) }),
        fc.option(fc.double({ min: 0, max: dayMs, noNaN: true }), { nil: undefined }),
        async (dues, least, from, perRunMs) => {
          const { found } = await search(dues, least, { ...from, perRunMs });
          if (dues.length < least) expect(found).toBeUndefined();
          else expect(found).toBeGreaterThanOrEqual(least);
        },
      ),
      { numRuns: 300 },
    );
  });
});
