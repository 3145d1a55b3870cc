import { describe, expect, test } from 'vitest';
import { channelInputs } from '../support/foreign-text/channel-inputs.ts';
import { tooSlow } from '../support/foreign-text/measure.ts';

describe('work grows at most linearly with text from elsewhere', () => {
  test.each(Object.entries(channelInputs))(
    '%s',
    async (_name, input) => {
      expect(await tooSlow(input)).toEqual([]);
    },
    300_000,
  );
});
