import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { shownArguments } from '../../../src/core/ledger/shown-arguments.ts';
import type { RedactedValue } from '../../../src/core/redact/redaction.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';

const args: JsonObject = { amount: 120, recipient: 'ann@acme.com', note: 'for the chairs', list: [1, { b: 2, a: 1 }] };

test('the named arguments are shown in the order of the names, and all others are named', () => {
  expect(shownArguments(args, ['recipient', 'amount', 'absent'])).toEqual({
    shownArguments: { recipient: 'ann@acme.com', amount: '120' },
    notShown: ['note', 'list'],
  });
});

test('a value that is no text is canonical JSON', () => {
  expect(shownArguments(args, ['list'])?.shownArguments).toEqual({ list: '[1,{"a":1,"b":2}]' });
});

test.each([[[]], [['absent']], [['toString', '__proto__']]])('%j show nothing', (names) =>
  expect(shownArguments(args, names)).toBeUndefined(),
);

describe('a value that is not shown as it is counts as not shown', () => {
  test.each([
    ['a long one', 'x'.repeat(201), `${'x'.repeat(200)}… [1 more characters]`],
    ['a very long one', 'x'.repeat(1_000_000), `${'x'.repeat(200)}… [999800 more characters]`],
    ['a pair of surrogates at the cut', `${'x'.repeat(199)}😀y`, `${'x'.repeat(199)}… [3 more characters]`],
    ['a secret', 'postgres://app:hunter2@db/x', 'postgres://app:[PASSWORD]@db/x'],
  ])('%s', (_name, note, text) => {
    expect(shownArguments({ note, to: 'ann' }, ['note', 'to'])).toEqual({
      shownArguments: { note: text, to: 'ann' },
      notShown: ['note'],
    });
  });

  test('a card', () => {
    expect(shownArguments({ to: '4111 1111 1111 1111' }, ['to'])).toEqual({
      shownArguments: { to: '[CARD …1111 · 9bbe]' },
      notShown: ['to'],
    });
  });

  test('an argument whose name says that it is a secret', () => {
    const shown = shownArguments({ dbPassword: 'hunter2' }, ['dbPassword']);
    expect(shown).toEqual({ shownArguments: { dbPassword: '[PASSWORD]' }, notShown: ['dbPassword'] });
  });

  test('what does not fit into a request', () => {
    const many = Object.fromEntries(Array.from({ length: 10 }, (_, each) => [`name_${each}`, 'é'.repeat(100)]));
    const { shownArguments: shown, notShown } = shownArguments(many, Object.keys(many))!;
    expect(Object.keys(shown)).toEqual(['name_0', 'name_1', 'name_2', 'name_3']);
    expect(notShown).toEqual(['name_4', 'name_5', 'name_6', 'name_7', 'name_8', 'name_9']);
  });
});

test('half a surrogate pair in what is shown fails nothing', () => {
  const hidden: RedactedValue[] = [{ path: ['items', 0], spans: [[0, 1, '[X]']] }];
  expect(shownArguments({ items: ['😀'] }, ['items'], hidden)?.shownArguments).toEqual({ items: '["[X]\\ude00"]' });
});

test('a name of invisible characters does not push the others out of the list', () => {
  const name = '\u0001'.repeat(200);
  const { notShown } = shownArguments({ [name]: '', recipient: 'mallory', item: 'tea' }, ['item'])!;
  expect(notShown).toEqual([name.slice(0, 160), 'recipient']);
});

test('text stays on one line, and nothing in it is invisible', () => {
  const { shownArguments: shown, notShown } = shownArguments({ path: 'C:\\a\nb\u202Egnp.exe', list: ['x\u200By'] }, [
    'path',
    'list',
  ])!;
  expect(shown).toEqual({ path: 'C:\\\\a\\nb\\u{202E}gnp.exe', list: '["x\\u{200B}y"]' });
  expect(notShown).toEqual([]);
});

test('any arguments: bounded, and each of them is shown in full or named', () => {
  const objects = fc.dictionary(fc.string({ maxLength: 30 }), fc.jsonValue()) as fc.Arbitrary<JsonObject>;
  fc.assert(
    fc.property(objects, fc.integer({ min: 0, max: 20 }), (given, count) => {
      const names = Object.keys(given).slice(0, count);
      const found = shownArguments(given, names);
      if (found === undefined) return;
      expect(Buffer.byteLength(JSON.stringify(found.shownArguments))).toBeLessThanOrEqual(1_000);
      for (const name of Object.keys(given)) {
        expect(Object.hasOwn(found.shownArguments, name) || found.notShown.includes(name)).toBe(true);
      }
      expect(Object.values(found.shownArguments).join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }),
  );
});
