import { describe, expect, test } from 'vitest';
import * as fc from 'fast-check';
import { fromVisible, visibleJson, visibleLine, visibleText } from '../../src/text/visible-text.ts';
import { escapeText, escapeUnseen } from '../../src/core/base/escape-text.ts';
import { hostileText } from '../card/hostile-text.ts';
import { parseJson } from '../../src/core/base/parse-json.ts';

const anyText = fc.oneof(hostileText, fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));

describe('visibleText', () => {
  test.each([
    ['a\nb\tc', String.raw`a\u{000A}b\u{0009}c`],
    ['\u001b[2J', String.raw`\u{001B}[2J`],
    ['\u001b]0;title\u0007', String.raw`\u{001B}]0;title\u{0007}`],
    ['a\u202eb\u2066', String.raw`a\u{202E}b\u{2066}`],
    ['a\u200bb\ufeff', String.raw`a\u{200B}b\u{FEFF}`],
    ['\ue000\u{10fffe}\u0378', String.raw`\u{E000}\u{10FFFE}\u{0378}`],
    ['a\u00a0b', String.raw`a\u{00A0}b`],
    ['\ud800x', String.raw`\u{D800}x`],
    [`e${'\u0301'.repeat(8)}`, `e${'\u0301'.repeat(6)}${String.raw`\u{0301}\u{0301}`}`],
    // What is readable stays, backslashes too.
    [String.raw`grep '\d\n' C:\new`, String.raw`grep '\d\n' C:\new`],
    [String.raw`\u{202E}`, String.raw`\u{005C}u{202E}`],
    ['naïve Zoë Łódź 東京 日本語 Ελλάδα Привет שלום', 'naïve Zoë Łódź 東京 日本語 Ελλάδα Привет שלום'],
    ['“5–10 €”… ½ ™ m²', '“5–10 €”… ½ ™ m²'],
  ])('%j', (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  test.each([
    ['p\u0430ypal.com', String.raw`p\u{0430}ypal.com`],
    ['\u0440\u0430\u0443\u0440\u0430.com', String.raw`\u{0440}\u{0430}\u{0443}\u{0440}\u{0430}.com`],
    ['g\u03bfogle', String.raw`g\u{03BF}ogle`],
    ['\uff47oogle', String.raw`\u{FF47}oogle`],
    ['\u{1d41a}dmin', String.raw`\u{1D41A}dmin`],
    ['\u0261oogle', String.raw`\u{0261}oogle`],
    ['a\u2044b', String.raw`a\u{2044}b`],
    ['host\uff0ecom', String.raw`host\u{FF0E}com`],
    ['host\u3002com', String.raw`host\u{3002}com`],
    ['rm \u2212rf /', String.raw`rm \u{2212}rf /`],
    ['rm \u2014force', String.raw`rm \u{2014}force`],
    ['a\u03b1\u0430', String.raw`a\u{03B1}\u{0430}`],
    ['Яндекс\u03bf', String.raw`Яндекс\u{03BF}`],
    // Real words of one script.
    ['Москва', 'Москва'],
    ['оса и слон', 'оса и слон'],
    ['東京タワーとJR', '東京タワーとJR'],
    ['한국어LG', '한국어LG'],
    ['ışık', 'ışık'],
    ['5−3 = 2', '5−3 = 2'],
    ['これは。次', 'これは。次'],
  ])('look-alikes: %j', (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  test('gives the text back, and shows nothing that cannot be seen', () => {
    fc.assert(
      fc.property(anyText, fc.boolean(), (text, lines) => {
        const shown = visibleText(text, { lines });
        expect(fromVisible(shown)).toBe(text);
        const bare = lines ? shown.replaceAll(/[\n\t]/g, '') : shown;
        expect(escapeUnseen(bare)).toBe(bare);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('visibleJson', () => {
  test('has the same value, and shows nothing that cannot be seen', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), anyText, (value, text) => {
        const json = JSON.stringify([value, text]);
        const shown = visibleJson(json);
        expect(parseJson(shown)).toEqual(parseJson(json));
        expect(escapeUnseen(shown)).toBe(shown);
      }),
    );
  });

  test('the letters of an escape are no part of a word', () => {
    expect(visibleJson(JSON.stringify('\nПривет p\u0430y'))).toBe(String.raw`"\nПривет p\u0430y"`);
  });
});

describe('visibleLine', () => {
  test.each([escapeText, escapeUnseen])('adds only escapes to what %o made', (made) => {
    fc.assert(
      fc.property(anyText, (text) => {
        const line = made(text).replaceAll('\n', '');
        const shown = visibleLine(line);
        expect(fromVisible(shown)).toBe(fromVisible(line));
        expect(escapeUnseen(shown)).toBe(shown);
      }),
    );
  });

  test('the letters of an escape are no part of a word', () => {
    expect(visibleLine(escapeText('\nПривет\u202e p\u0430y'))).toBe(String.raw`\nПривет\u{202E} p\u{0430}y`);
  });
});
