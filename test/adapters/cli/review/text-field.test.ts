import { expect, test } from 'vitest';
import type { KeyPress } from '../../../../packages/cli/src/review/key-press.ts';
import { shownField, textField, fieldText, typeInto } from '../../../../packages/cli/src/review/text-field.ts';

const key = (name: string) => ({ key: name }) as KeyPress;
const typed = (text: string): KeyPress => ({ typed: text });

test.each<[string, KeyPress[], string[], boolean]>([
  ['typed at the end', [typed('c')], ['abc▏'], false],
  ['typed before the last character', [key('left'), typed('x')], ['ax▏b'], false],
  ['moves no further than the text', [key('left'), key('left'), key('left'), key('right')], ['a▏b'], false],
  ['home and end', [key('home'), typed('x'), key('end'), typed('y')], ['xaby▏'], false],
  ['backspace', [key('backspace')], ['a▏'], false],
  ['backspace at the start', [key('home'), key('backspace')], ['▏ab'], false],
  ['cleared', [key('clear'), typed('x')], ['x▏'], false],
  ['Enter on one line', [key('enter')], ['ab▏'], false],
  ['pasted lines become one', [{ pasted: '\r\nc\nd' }], ['ab c d▏'], false],
  ['Enter breaks the line', [key('enter'), typed('c')], ['ab', 'c▏'], true],
  ['pasted lines stay', [{ pasted: '\r\nc' }], ['ab', 'c▏'], true],
  [
    'up and down keep the column',
    [key('enter'), typed('cdef'), key('up'), typed('x'), key('down'), typed('y')],
    ['abx', 'cdey▏f'],
    true,
  ],
  ['home and end of a line', [key('enter'), typed('cd'), key('home'), typed('x')], ['ab', 'x▏cd'], true],
  ['a whole character is one', [typed('😀'), key('backspace')], ['ab▏'], false],
  ['invisible characters are shown', [typed('\u202e\u001b')], ['ab\\u{202E}\\u{001B}▏'], false],
])('%s', (_name, presses, lines, breaks) => {
  const field = presses.reduce((before, press) => typeInto(before, press, { lines: breaks }), textField('ab'));
  expect(shownField(field)).toEqual(lines);
});

test('a text has a longest length', () => {
  expect(fieldText(typeInto(textField(), { pasted: 'x'.repeat(50_000) }))).toHaveLength(20_000);
});
