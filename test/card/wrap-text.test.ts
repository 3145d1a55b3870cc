import { expect, test } from 'vitest';
import { wrapText } from '../../src/card/cut-text.ts';

const columnsOf = (text: string): number => Array.from(text).length;

test('a line never begins with a combining mark: it stays with its letter, and with its escape', () => {
  const marks = '\u0301'.repeat(4);
  expect(wrapText(`abcdefghij${marks}kl`, 10, columnsOf)).toEqual(['abcdefghi', `j${marks}kl`]);
  const escape = String.raw`\u{202E}`;
  expect(wrapText(`ab${escape}${marks}`, 10, columnsOf)).toEqual(['ab', `${escape}${marks}`]);
});
