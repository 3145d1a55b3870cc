import { expect, test } from 'vitest';
import { decodeUtf8 } from '../../src/policy-file/text.ts';

const remedy = 'save the file as UTF-8';
test.each<[string, Uint8Array, object]>([
  ['ASCII', Buffer.from('rules: []'), { text: 'rules: []' }],
  ['UTF-8', Buffer.from('geschäft 😀'), { text: 'geschäft 😀' }],
  ['with a byte order mark', Buffer.from('\ufeffrules: []'), { text: 'rules: []' }],
  [
    'Latin-1',
    Buffer.from('a: 1\nb: gesch\xe4ft\n', 'latin1'),
    { line: 2, column: 9, message: `the byte 0xE4 is not UTF-8: ${remedy}` },
  ],
  [
    'a character that ends too early',
    Buffer.from([0x61, 0xc3]),
    { line: 1, column: 2, message: `the byte 0xC3 is not UTF-8: ${remedy}` },
  ],
  [
    'after a character of two bytes',
    Buffer.from([0xc3, 0xa4, 0xff]),
    { line: 1, column: 2, message: `the byte 0xFF is not UTF-8: ${remedy}` },
  ],
  [
    'UTF-16',
    Buffer.from('\ufeffrules: []', 'utf16le'),
    { line: 1, column: 1, message: `the file is UTF-16: ${remedy}` },
  ],
  ['nothing', Buffer.from(''), { text: '' }],
])('%s', (_, bytes, expected) => expect(decodeUtf8(bytes)).toEqual(expected));
