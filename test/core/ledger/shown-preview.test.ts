import { describe, expect, test } from 'vitest';
import type { CallPreview } from '../../../src/core/base/call-preview.ts';
import type { Json, JsonObject } from '../../../src/core/base/tool-call.ts';
import type { RequestRecord } from '../../../src/core/ledger/ledger.ts';
import { shownPreview } from '../../../src/core/ledger/hidden-arguments.ts';
import { redactText } from '../../../src/core/redact/find-sensitive.ts';
import { sensitiveKinds } from '../../../src/core/redact/kinds.ts';
import { redactionOf } from '../../../src/core/redact/redaction.ts';
import { growth, squareGrowth } from '../../support/processor-time.ts';

const shownOf = (args: JsonObject, preview: CallPreview): CallPreview | undefined => {
  const redaction = redactionOf(args, { settings: { kinds: sensitiveKinds, patterns: [], also: [] } });
  return shownPreview({ request: { arguments: args }, redaction } as unknown as RequestRecord, preview);
};
const table = (cells: Json[]): CallPreview => ({
  state: 'ready',
  changes: [
    { kind: 'table', name: 't', columns: ['value'], rows: cells.map((each) => ({ before: null, after: [each] })) },
  ],
});
const textChange = (before: string): CallPreview => ({
  state: 'ready',
  changes: [{ kind: 'text', name: 'a.txt', before, after: null }],
});
const card = 4_111_111_111_111_111;
const addresses = (count: number): string[] => Array.from({ length: count }, (_, index) => `u${index}@acme.com`);

describe('a preview shows nothing that is hidden of the arguments', () => {
  test.each<[string, JsonObject, CallPreview, CallPreview]>([
    ['a text', { mail: 'a@acme.com' }, textChange('to a@acme.com'), textChange('to [EMAIL …m · 5a0b]')],
    ['a number', { card }, table([card, 7]), table(['[CARD …1111 · 9bbe]', 7])],
    ['a name within a cell', { mail: 'a@acme.com' }, table([{ 'a@acme.com': 1 }]), table([{ '[EMAIL …m · 5a0b]': 1 }])],
    [
      'many texts',
      { mails: addresses(100) },
      table(addresses(100)),
      table(addresses(100).map((each) => redactText(each))),
    ],
  ])('%s', (_name, args, preview, shown) => expect(shownOf(args, preview)).toEqual(shown));
});

test.each(['ready', 'text', 'table', 'kind', 'rows'])("a hidden '%s' leaves the form of a preview", (password) => {
  expect(shownOf({ password }, textChange('x'))).toEqual(textChange('x'));
  expect(shownOf({ password }, table(['x']))).toEqual(table(['x']));
});

test('a preview is not shown if it takes too long to find what is hidden', () => {
  const timed = (count: number) => {
    const mails = addresses(count);
    const shown = () => shownOf({ notes: mails }, table(mails));
    expect(shown()).toEqual({
      state: 'failed',
      message: 'it repeats too much of what is hidden of the arguments',
    });
    return () => void shown();
  };
  expect(growth(timed, 2_000)).toBeLessThan(squareGrowth);
});
