/** An additional layer never loosens the terms of a request, nor shortens its veto, nor floods its reviewers. */
import { expect, test } from 'vitest';
import fc from 'fast-check';
import { reviewersAt } from '../../../src/core/policy/ask-terms.ts';
import { limitsOf } from '../../../src/core/policy/limits.ts';
import { defaultMinRemindMs, type PolicyLayers } from '../../../src/core/policy/policy.ts';
import { compileLayers, evaluate } from '../../../src/core/policy/ruling.ts';
import { call, loosened, loosenedLimits, minute, orForEver, permissive, policy, termsOf } from './strictness.ts';

const layers: fc.Arbitrary<PolicyLayers> = fc.record(
  { parents: fc.array(policy, { maxLength: 2 }), run: policy },
  { requiredKeys: [] },
);

test("a parent or a run's side never loosens the demands of its ceiling", () => {
  let stricter = 0;
  fc.assert(
    fc.property(policy, layers, (policy, added) => {
      const { maxTimeoutMs, ...settings } = permissive.approval;
      const ceiling = { ...policy, approval: { maxTimeoutMs: maxTimeoutMs!, ...settings, ...policy.approval } };
      fc.pre(evaluate(compileLayers({ ceiling }), call).action === 'ask');
      const [before, after] = [termsOf({ ceiling }), termsOf({ ceiling, ...added })];
      expect(loosened(before, after)).toEqual([]);
      expect(orForEver(after.remindMs)).toBeGreaterThanOrEqual(
        Math.min(orForEver(before.remindMs), defaultMinRemindMs),
      );
      expect(loosenedLimits(limitsOf({ ceiling }), limitsOf({ ceiling, ...added }))).toEqual([]);
      if (loosened(after, before).length > 0) stricter += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(stricter).toBeGreaterThan(100);
});

test("a ceiling that permits everything loosens no demand of a run's side", () => {
  let stricter = 0;
  fc.assert(
    fc.property(policy, policy, (ceiling, run) => {
      const permitting = { ...ceiling, approval: { ...ceiling.approval, maxTimeoutMs: null } };
      fc.pre(evaluate(compileLayers({ run }), call).action === 'ask');
      const after = termsOf({ ceiling: permitting, run });
      // What permits most is a long wait for a denial, and a short one for a call that runs at its end.
      const timeoutMs = after.onTimeout === 'deny' ? null : 1;
      const before = termsOf({ ceiling: { ...permissive, approval: { ...permissive.approval, timeoutMs } }, run });
      expect(loosened(before, after)).toEqual([]);
      if (loosened(after, before).length > 0) stricter += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(stricter).toBeGreaterThan(100);
});

test('reviewers are only added, never those of another requirement', () => {
  fc.assert(
    fc.property(policy, policy, fc.nat(4), (ceiling, run, minutes) => {
      fc.pre(evaluate(compileLayers({ ceiling, run }), call).action === 'ask');
      for (const each of termsOf({ ceiling, run }).requirements) {
        const [early, late] = [reviewersAt(each, minutes * minute), reviewersAt(each, (minutes + 1) * minute)];
        expect(late).toEqual(expect.arrayContaining([...early]));
        const own = new Set([...each.reviewers, ...each.escalate.flatMap(({ to }) => to)]);
        expect(late.filter((name) => !own.has(name))).toEqual([]);
      }
    }),
  );
});
