import { expect, test } from 'vitest';
import fc from 'fast-check';
import { sensitiveKinds } from '../../src/core/redact/kinds.ts';
import { redactJson } from '../../src/redact/redact-json.ts';
import { parseJson } from '../../src/core/base/json.ts';

const redacted = (text: string): string | undefined => redactJson(text, sensitiveKinds);

test.each([
  [
    'strings, also in lists',
    '{"a":"ann@acme.com","l":["x","ann@acme.com"]}',
    '{"a":"[EMAIL …om · f966]","l":["x","[EMAIL …om · f966]"]}',
  ],
  ['a single string', '"ann@acme.com"', '"[EMAIL …om · f966]"'],
  ['all but strings stays as written', '{ "n": 12345678901234567890,\n\t"f":1.0e5 , "z":null,"b":true}\n', undefined],
  ['names stay', '{"ann@acme.com":1,"a:b":"x"}', undefined],
  ['repeated names stay', '{"a":"ann@acme.com","a":"x"}', '{"a":"[EMAIL …om · f966]","a":"x"}'],
  [
    'escapes of other strings stay',
    '{"a":"\\u0041\\/","b":"ann\\u0040acme.com"}',
    '{"a":"\\u0041\\/","b":"[EMAIL …om · f966]"}',
  ],
  [
    'a secret by its name, however deep',
    '{"db":{"password":{"v":["a",1]}},"x":"a"}',
    '{"db":{"password":{"v":["[PASSWORD]",1]}},"x":"a"}',
  ],
  [
    'a name after a nested object',
    '{"password":{"v":"a"},"x":"a","y":[{"z":"b"}]}',
    '{"password":{"v":"[PASSWORD]"},"x":"a","y":[{"z":"b"}]}',
  ],
  [
    'recipients and commands too',
    '{"to":"ann@acme.com","command":"ann@acme.com"}',
    '{"to":"[EMAIL …om · f966]","command":"[EMAIL …om · f966]"}',
  ],
  ['quotes and backslashes', '{"a":"\\"ann@acme.com\\" \\\\"}', '{"a":"\\"[EMAIL …om · f966]\\" \\\\"}'],
])('%s', (_name, text, expected) => expect(redacted(text)).toBe(expected ?? text));

test.each(['', '{', '{"a":ann@acme.com}', '[1,]', 'x'])('%j is not JSON', (text) =>
  expect(redacted(text)).toBeUndefined(),
);

test('other JSON stays as it is, and a long string takes no stack', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 1, 2), (text, indent) => {
      const written = JSON.stringify(parseJson(text), null, indent);
      expect(parseJson(redacted(written)!)).toEqual(parseJson(written));
    }),
  );
  const long = JSON.stringify(['\\"'.repeat(500_000)]);
  expect(redacted(long)).toBe(long);
});
