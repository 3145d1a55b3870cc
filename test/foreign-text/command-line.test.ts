import { describe, expect, test } from 'vitest';
import { commandLineInputs } from '../support/foreign-text/command-line-inputs.ts';
import { tooSlow } from '../support/foreign-text/measure.ts';

describe('work grows at most linearly with text from elsewhere', () => {
  test.each(Object.entries(commandLineInputs))(
    '%s',
    async (_name, input) => {
      expect(await tooSlow(input)).toEqual([]);
    },
    300_000,
  );
});
