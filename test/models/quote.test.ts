import { describe, expect, test } from 'vitest';
import { keepSecret, quote } from '../../src/models/quote.ts';
import { growth, squareGrowth } from '../support/processor-time.ts';

keepSecret('hunting horse battery');
keepSecret('with "quotes"');
keepSecret('Scheme unheard-of');
keepSecret('prefix');
keepSecret('prefix-and-more');
keepSecret('short');

describe('quote', () => {
  test.each([
    ['', ''],
    ['<html>\n <body>\tno\u202e', '<html> <body> no'],
    ['{"choices":[{"finish_reason":"stop"}],"usage":{"completion_tokens":12}}', undefined],
    ['answer.usage.input_tokens: expected number, received undefined', undefined],
    ['{"id":"chatcmpl-1","created":1700000000}', undefined],
    ['Incorrect API key provided: hunter2. See the manual', 'Incorrect API key provided: [redacted] See the manual'],
    ['{"api_key": "hunter2", "ok": 1}', '{"api_key": "[redacted]", "ok": 1}'],
    ['{"access_token":"hunter2"}', '{"access_token":"[redacted]"}'],
    ['password=hunter2', 'password=[redacted]'],
    ['Authorization: Bearer hunter', 'Authorization: [redacted] [redacted]'],
    ['you sent Bearer hunter, Basic aHVudGVy', 'you sent Bearer [redacted], Basic [redacted]'],
    ['no sk-1 nor sk-proj-Ab_c', 'no [redacted] nor [redacted]'],
    ['AIzaSyD4vQ7x0123456789abc is wrong', '[redacted] is wrong'],
    [`hf_${'abcdEFGH'.repeat(5)}`, '[redacted]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4MTIzNDU2Nzg5In0.c2lnbmF0dXJlMTIz', '[redacted].[redacted].[redacted]'],
    ['the key hunting horse battery', 'the key [redacted]'],
    ['{"key":"with \\"quotes\\""}', '{"key":"[redacted]"}'],
    ['the key unheard-of', 'the key [redacted]'],
    ['the key prefix-and-more', 'the key [redacted]'],
    ['a short word', undefined],
  ])('%j is quoted as %j', (text, expected = text) => {
    expect(quote(text)).toBe(expected);
  });

  test.each([
    ['200 characters are kept', 'ab '.repeat(66) + 'ab', 'ab '.repeat(66) + 'ab'],
    ['more are cut', 'ab '.repeat(68), `${'ab '.repeat(66)}ab…`],
    ['no character is cut in half', `${'ab '.repeat(66)}a😀`, `${'ab '.repeat(66)}a…`],
    ['a secret is replaced before the cut', `${'ab '.repeat(64)}hunting horse battery`, `${'ab '.repeat(64)}[redacte…`],
  ])('%s', (_case, text, expected) => {
    expect(quote(text)).toBe(expected);
  });

  test.each([
    ['a letter', 'x'],
    ['words', 'token: '],
    ['blanks', 'Bearer', ' '],
    ['digits', '1'],
  ])('100 KB of %s take no time that grows faster than the text', (_name, first, more = first) => {
    const timed = (length: number) => {
      const text = first + more.repeat(length / more.length);
      return () => void quote(text);
    };
    expect(growth(timed, 25_000)).toBeLessThan(squareGrowth);
  });
});
