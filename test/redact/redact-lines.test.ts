import { expect, test } from 'vitest';
import fc from 'fast-check';
import { redactText } from '../../src/core/redact/find-sensitive.ts';
import { sensitiveKinds } from '../../src/core/redact/kinds.ts';
import { LineRedactor } from '../../src/redact/redact-lines.ts';

const begin = ['-----BEGIN RSA PRIVATE', ' KEY-----'].join('');
const end = ['-----END RSA PRIVATE', ' KEY-----'].join('');
const byLines = (text: string, kinds: readonly string[] = sensitiveKinds): string => {
  const redactor = new LineRedactor(kinds);
  return text
    .split(/(?<=\n)/)
    .map((line) => redactor.redact(line))
    .join('');
};

test.each([
  [
    'a key over several lines',
    `a\n${begin}\nMII\nabc\n${end}\nann@acme.com\n`,
    'a\n[PRIVATE_KEY]\n[EMAIL …om · f966]\n',
  ],
  [
    'two keys, the second on the line of the end',
    `${begin}\nx\n${end} and ${begin}\ny\n${end}!`,
    '[PRIVATE_KEY] and [PRIVATE_KEY]!',
  ],
  ['a key without its end', `a ${begin}\nMII\nann`, 'a [PRIVATE_KEY]'],
  ['line ends stay', 'a\r\nann@acme.com\r\n\n', 'a\r\n[EMAIL …om · f966]\r\n\n'],
])('%s', (_name, text, expected) => expect(byLines(text)).toBe(expected));

test('keys are left if the policy does not name them', () => {
  expect(byLines(`${begin}\nann@acme.com\n`, ['EMAIL'])).toBe(`${begin}\n[EMAIL …om · f966]\n`);
});

test('line by line is as at once, for what is on one line', () => {
  const parts = fc.constantFrom('a', ' ', '\n', begin, end, 'ann@acme.com', '4111111111111111', 'x: y');
  fc.assert(
    fc.property(fc.array(parts), (pieces) => {
      const text = pieces.join(' ');
      expect(byLines(text)).toBe(redactText(text));
    }),
  );
});
