import { describe, expect, test } from 'vitest';
import { policyInputs } from '../support/foreign-text/policy-inputs.ts';
import { tooSlow } from '../support/foreign-text/measure.ts';

describe('work grows at most linearly with text from elsewhere', () => {
  test.each(Object.entries(policyInputs))(
    '%s',
    async (_name, input) => {
      expect(await tooSlow(input)).toEqual([]);
    },
    300_000,
  );
});
