import { expect, test } from 'vitest';
import type { Key } from 'ink';
import { type KeyPress, keyPressesOf } from '../../../../packages/cli/src/review/key-press.ts';

test.each<[string, Partial<Key>, KeyPress[]]>([
  ['a', {}, [{ typed: 'a' }]],
  ['aa', {}, [{ typed: 'aa' }]],
  ['a\r', {}, [{ typed: 'a' }, { key: 'enter' }]],
  ['5m\r', {}, [{ typed: '5m' }, { key: 'enter' }]],
  ['a\rb', {}, [{ typed: 'a\rb' }]],
  ['\u00155m', {}, [{ key: 'clear' }, { typed: '5m' }]],
  ['', { return: true }, [{ key: 'enter' }]],
  ['', { upArrow: true }, [{ key: 'up' }]],
  ['c', { ctrl: true }, [{ key: 'interrupt' }]],
  ['a', { ctrl: true }, []],
  ['a', { meta: true }, []],
  ['', {}, []],
])('%j with %j', (input, key, presses) => {
  expect(keyPressesOf(input, key as Key)).toEqual(presses);
});
