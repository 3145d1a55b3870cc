import { describe, expect, test } from 'vitest';
import { matchInputs } from '../support/foreign-text/match-inputs.ts';
import { tooSlow } from '../support/foreign-text/measure.ts';

describe('work grows at most linearly with text from elsewhere', () => {
  test.each(Object.entries(matchInputs))(
    '%s',
    async (_name, input) => {
      expect(await tooSlow(input)).toEqual([]);
    },
    300_000,
  );
});
