import { describe, expect, test } from 'vitest';
import * as fc from 'fast-check';
import { escapeJson, escapeText } from '../../../src/core/base/text.ts';
import { parseJson } from '../../../src/core/base/json.ts';
import type { Json } from '../../../src/core/base/tool-call.ts';

/** Written independently of the source, as ranges, so that a mistake in either shows. */
const hidden = [
  [0x00, 0x1f],
  [0x7f, 0xa0],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x1680, 0x1680],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x2000, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  [0x2800, 0x2800],
  [0x3000, 0x3000],
  [0x3164, 0x3164],
  [0xd800, 0xf8ff],
  [0xfdd0, 0xfdef],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffc],
  [0xfffe, 0xffff],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0x1fffe, 0x1ffff],
  [0xe0000, 0x10ffff],
] as const;
const isHidden = (point: number): boolean => hidden.some(([from, to]) => from <= point && point <= to);
const points = (text: string): number[] => Array.from(text, (character) => character.codePointAt(0) ?? 0);

/** Any UTF-16 text, including lone surrogates, with a high share of hidden characters. */
const anyText = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point)),
      fc.constantFrom('a', ' ', '"', '\\', '\\u{202E}', '\n', '\u0301', 'é', '\u202e', '\u200b', '\u{e0041}', '\ufe0f'),
      fc.constantFrom(...hidden).map(([from]) => String.fromCodePoint(from)),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

function unescape(shown: string): string {
  const letters: Record<string, string> = { n: '\n', r: '\r', t: '\t', '\\': '\\' };
  return shown.replace(/\\(?:u\{([0-9A-F]+)\}|(.))/gu, (_all, hex: string | undefined, letter: string | undefined) =>
    hex === undefined ? (letters[letter ?? ''] ?? '?') : String.fromCodePoint(Number.parseInt(hex, 16)),
  );
}

describe('escapeText', () => {
  test.each([
    ['plain', 'delete report.txt', 'delete report.txt'],
    ['quotes and punctuation', `"a" 'b' <c> {d}`, `"a" 'b' <c> {d}`],
    [
      'letters of many scripts',
      'Ärger Ελλάδα здравствуй 你好 שלום مرحبا हिन्दी 한국어',
      'Ärger Ελλάδα здравствуй 你好 שלום مرحبا हिन्दी 한국어',
    ],
    ['emoji without selectors', 'done 🎉', 'done 🎉'],
    ['newline, tab, return', 'a\nb\tc\r', 'a\\nb\\tc\\r'],
    ['a backslash is doubled, so an escape cannot be forged', '\\u{202E} C:\\x', '\\\\u{202E} C:\\\\x'],
    ['terminal escape sequence', '\u001b[31mred\u009b0m', '\\u{001B}[31mred\\u{009B}0m'],
    ['bell, backspace, delete, null', '\u0007\b\u007f\0', '\\u{0007}\\u{0008}\\u{007F}\\u{0000}'],
    ['right-to-left override', 'photo\u202egpj.exe', 'photo\\u{202E}gpj.exe'],
    ['bidi isolates and marks', '\u2066a\u2069\u200f\u061c', '\\u{2066}a\\u{2069}\\u{200F}\\u{061C}'],
    ['zero-width', 'a\u200bb\u200cc\u200dd\u2060e\ufefff', 'a\\u{200B}b\\u{200C}c\\u{200D}d\\u{2060}e\\u{FEFF}f'],
    ['soft hyphen', 'pay\u00adpal', 'pay\\u{00AD}pal'],
    ['spaces that are not the space', 'a\u00a0b\u2003c\u3000d', 'a\\u{00A0}b\\u{2003}c\\u{3000}d'],
    ['line separators', 'a\u2028b\u2029c\u0085', 'a\\u{2028}b\\u{2029}c\\u{0085}'],
    ['tags', 'x\u{e0041}\u{e007f}', 'x\\u{E0041}\\u{E007F}'],
    ['variation selectors', '❤\ufe0f\u{e0100}', '❤\\u{FE0F}\\u{E0100}'],
    ['fillers and blanks', '\u3164\u115f\uffa0\u2800', '\\u{3164}\\u{115F}\\u{FFA0}\\u{2800}'],
    ['lone surrogates', 'a\ud800b\udfff', 'a\\u{D800}b\\u{DFFF}'],
    ['noncharacters', '\ufdd0\uffff\u{1fffe}', '\\u{FDD0}\\u{FFFF}\\u{1FFFE}'],
    ['private use', '\ue000\u{f0000}', '\\u{E000}\\u{F0000}'],
    ['a combining mark on its letter stays', 'e\u0301', 'e\u0301'],
    [
      'a combining mark at the start, after a space, after an escape',
      '\u0301a \u0301\n\u0301',
      '\\u{0301}a \\u{0301}\\n\\u{0301}',
    ],
    ['a heap of combining marks', `e${'\u0301'.repeat(8)}`, `e${'\u0301'.repeat(6)}\\u{0301}\\u{0301}`],
    ['empty', '', ''],
  ])('%s', (_name, text, shown) => {
    expect(escapeText(text)).toBe(shown);
  });

  test('never shows a hidden character', () => {
    fc.assert(
      fc.property(anyText, (text) => points(escapeText(text)).every((point) => !isHidden(point))),
      { numRuns: 500 },
    );
  });

  test('every code point of the hidden ranges is escaped, alone and inside a word', () => {
    for (const [from, to] of hidden) {
      for (const point of new Set([from, to, Math.floor((from + to) / 2)])) {
        expect(points(escapeText(`a${String.fromCodePoint(point)}b`)).filter(isHidden)).toEqual([]);
      }
    }
  });

  test('is lossless: the escapes can be read back', () => {
    fc.assert(
      fc.property(anyText, (text) => unescape(escapeText(text)) === text),
      { numRuns: 500 },
    );
  });
});

describe('escapeJson', () => {
  test.each<[string, Json, number, string]>([
    ['one line', { path: 'a\nb' }, 0, '{"path":"a\\nb"}'],
    ['bidi', { path: 'a\u202eb' }, 0, '{"path":"a\\u202eb"}'],
    ['a tag as its two units', ['\u{e0041}'], 0, '["\\udb40\\udc41"]'],
    ['a leading combining mark', ['\u0301'], 0, '["\\u0301"]'],
    ['a hidden character in a name', { 'a\u200b': 1 }, 0, '{"a\\u200b":1}'],
    ['indented', { a: [1] }, 2, '{\n  "a": [\n    1\n  ]\n}'],
  ])('%s', (_name, value, indent, shown) => {
    expect(escapeJson(value, indent)).toBe(shown);
  });

  test('contains no hidden character except its own line breaks, and parses back to the same value', () => {
    fc.assert(
      fc.property(
        fc.dictionary(anyText, anyText, { noNullPrototype: true }),
        fc.constantFrom(0, 2),
        (value, indent) => {
          const shown = escapeJson(value, indent);
          expect(points(shown).filter((point) => isHidden(point) && point !== 10)).toEqual([]);
          expect(parseJson(shown)).toEqual(value);
        },
      ),
      { numRuns: 300 },
    );
  });
});
