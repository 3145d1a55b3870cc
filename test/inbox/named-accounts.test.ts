import { expect, test } from 'vitest';
import type { CardField } from 'countersign/card';
import { otherAccount } from '../../packages/gateway/src/inbox/request/named-accounts.ts';

const field = (text: string): CardField => ({ name: 'account', format: 'text', value: { text } });

test.each<[string, string, string[], string | undefined]>([
  [
    'another account',
    'Pay to [IBAN …3000 · faf7].',
    ['"[IBAN GB29…6819 · 5488]"', '48250'],
    'iris named an account that ends in 3000, and this call has an account that ends in 6819.',
  ],
  ['the same end', 'Pay to [IBAN …3000 · faf7].', ['[IBAN DE89…3000 · faf7]'], undefined],
  ['the same, which the argument shows', 'Pay to [IBAN …3000 · faf7].', ['DE89 3704 0044 0532 0130 00'], undefined],
  ['one of two', 'From [IBAN …1111 · aaaa] to [IBAN …3000 · faf7].', ['DE89370400440532013000'], undefined],
  ['none named', 'Pay Lightworks.', ['DE89370400440532013000'], undefined],
  ['none in the call', 'Pay to [IBAN …3000 · faf7].', ['Lightworks'], undefined],
  [
    'others, shown',
    'Pay to DE89 3704 0044 0532 0130 00.',
    ['GB29NWBK60161331926819'],
    'iris named an account that ends in 3000, and this call has an account that ends in 6819.',
  ],
])('%s', (_name, words, values, sentence) => {
  expect(otherAccount('iris', words, values.map(field))).toBe(sentence);
});
