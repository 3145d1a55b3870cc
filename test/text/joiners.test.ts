import { domainToASCII } from 'node:url';
import { describe, expect, test } from 'vitest';
import { wordJoiners } from '../../src/text/visible-text.ts';

const joinerAt = (text: string): number[] => [...wordJoiners(text)];

describe('what words are written with', () => {
  test.each<[string, number[]]>([
    ['علی‌رضا', [3]],
    ['می‌خواهم', [2]],
    ['ශ්‍රී', [2]],
    ['क्‍ष', [2]],
    ['र्‍य', [2]],
    ['क्‌ष', [2]],
    ['র‍্যাব', [1]],
    ['ರ‍್ಯ', [1]],
    ['നായന്‍', [5]],
    // With marks between the letter and the joiner.
    ['بِ\u200cب', [2]],
  ])('%s', (word, at) => expect(joinerAt(word)).toEqual(at));
});

describe('what nobody would see', () => {
  test.each([
    ['between Latin letters', 'pay\u200cpal'],
    ['at the end', 'علی\u200c'],
    ['at the beginning', '\u200cعلی'],
    ['two in a row', 'علی\u200c\u200cرضا'],
    ['after a letter that does not join', 'دا\u200cا'],
    ['before one that does not join', 'ب\u200cء'],
    ['a joiner where letters join anyway', 'س\u200dس'],
    ['a virama of another script', 'क\u09cd\u200dक'],
    ['a letter of another script', 'क\u094d\u200dক'],
    ['a virama on no letter of its script', 'a\u094d\u200da'],
    ['scripts that need none', 'க்\u200dக'],
    ['in an emoji', '👩\u200d🚀'],
  ])('%s', (_, text) => expect(joinerAt(text)).toEqual([]));
});

/** IDNA, as Node's URL parser has it (RFC 5892, A.1 and A.2). */
const isValidLabel = (label: string): boolean => domainToASCII(label) !== '';

test('a joiner counts only where RFC 5892 has it, around every letter of these scripts', () => {
  const ranges = [
    [0x61, 0x7a],
    [0x0600, 0x06ff],
    [0x0900, 0x0dff],
  ] as const;
  const letters = ranges.flatMap(([from, to]) =>
    Array.from({ length: to - from + 1 }, (_, index) => String.fromCharCode(from + index)).filter((each) =>
      /\p{L}/u.test(each),
    ),
  );
  const viramas = Array.from({ length: 0x500 }, (_, index) => String.fromCharCode(0x0900 + index)).filter((each) =>
    /^\p{M}$/u.test(each),
  );
  const words = letters.flatMap((letter) => [
    `${letter}\u200cب`,
    `ب\u200c${letter}`,
    ...['\u200c', '\u200d'].flatMap((joiner) =>
      viramas
        .filter((each) => each.charCodeAt(0) >> 7 === letter.charCodeAt(0) >> 7)
        .map((each) => letter + each + joiner + letter),
    ),
  ]);
  const counted = words.filter((word) => joinerAt(word).length > 0);
  expect(counted.length).toBeGreaterThan(800);
  expect(counted.filter((word) => !isValidLabel(word))).toEqual([]);
  // Of Arabic letters, which the rule is about, none is missing but those that Node does not take in a label.
  const arabic = words.filter((word) => /^[\u0600-\u06ff]\u200c[\u0600-\u06ff]$/.test(word));
  expect(arabic.filter((word) => isValidLabel(word) !== joinerAt(word).length > 0)).toEqual([]);
});
