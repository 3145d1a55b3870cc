import { describe, expect, test } from 'vitest';
import { inboxInputs } from '../support/foreign-text/inbox-inputs.ts';
import { tooSlow } from '../support/foreign-text/measure.ts';

describe('work grows at most linearly with text from elsewhere', () => {
  test.each(Object.entries(inboxInputs))(
    '%s',
    async (_name, input) => {
      expect(await tooSlow(input)).toEqual([]);
    },
    300_000,
  );
});
