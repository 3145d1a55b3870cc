import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { isSamePerson, personKey, widely } from '../../../src/core/people/directory.ts';
import { runs } from '../../support/thorough.ts';

describe('one person', () => {
  test.each<[string, string, string]>([
    ['in capitals', 'Ann@Acme.com', 'ann@acme.com'],
    ['composed and not', 'ren\u00e9', 'Rene\u0301'],
    ['a sharp s, capital', 'Straße', 'STRAẞE'],
    ['a final sigma', 'ΟΔΥΣΣΕΥΣ', 'Οδυσσευς'],
    ['a joiner that nobody sees', 'an\u200bn', 'ann'],
    ['a mark of direction', '\u202eann', 'ann'],
    ['a soft hyphen', 'an\u00adn', 'ann'],
    ['blanks around and within', '  Ann   Lee ', 'ann lee'],
    ['a blank that does not break', 'ann\u00a0lee', 'ann lee'],
    ['letters of another script', 'АНН', 'анн'],
  ])('%s: %j and %j', (_, one, other) => {
    expect(isSamePerson(one, other)).toBe(true);
  });
});

describe('two people', () => {
  test.each<[string, string, string]>([
    ['other letters', 'ann', 'anna'],
    ['with an accent', 'ren\u00e9', 'rene'],
    ['a letter that only looks the same', 'ann', '\u0430nn'],
    ['only what nobody sees, and something else of that', '\u200b', '\u200c'],
    ['a name and one in which it is', 'ann', 'ann lee'],
    ['an address with a letter without a dot', 'ann@acme-ınc.com', 'ann@acme-inc.com'],
    ['an address with a sharp s', 'kim@großbank.de', 'kim@grossbank.de'],
  ])('%s: %j and %j', (_, one, other) => {
    expect(isSamePerson(one, other)).toBe(false);
  });

  test.each([
    [null, null],
    [undefined, undefined],
    [null, 'ann'],
  ])('%s and %s: nobody has no name', (one, other) => expect(isSamePerson(one, other)).toBe(false));
});

test.each([
  ['Straße', 'STRASSE'],
  ['kılıç', 'KILIÇ'],
  ['ann@acme-ınc.com', 'ann@acme-inc.com'],
])('%s may be %s, so neither approves what the other started', (one, other) => {
  expect(widely(personKey(one))).toBe(widely(personKey(other)));
});

test('law: a key is its own key, and small letters change none', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' })), (name) => {
      const key = personKey(name);
      expect(personKey(key)).toBe(key);
      expect(personKey(name.toLowerCase())).toBe(key);
      expect(widely(personKey(name.toUpperCase()))).toBe(widely(key));
    }),
    { numRuns: runs(2_000) },
  );
});
