import type { Key } from 'ink';

/** What the keyboard sent: a named key, text that was typed, or text that was pasted. */
export type KeyPress = { key: NamedKey } | { typed: string } | { pasted: string };

export type NamedKey =
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'page-up'
  | 'page-down'
  | 'home'
  | 'end'
  | 'enter'
  | 'escape'
  | 'backspace'
  | 'delete'
  | 'interrupt'
  | 'save'
  | 'clear';

const named: [flag: keyof Key, key: NamedKey][] = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'page-up'],
  ['pageDown', 'page-down'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'escape'],
  ['backspace', 'backspace'],
  ['delete', 'delete'],
];

const withControl: Record<string, NamedKey> = { c: 'interrupt', s: 'save', u: 'clear' };

/** Translates what ink reports; undefined for a key that means nothing here. */
export function keyPressOf(input: string, key: Key): KeyPress | undefined {
  const [, name] = named.find(([flag]) => key[flag] === true) ?? [];
  if (name !== undefined) return { key: name };
  if (key.ctrl) {
    const control = withControl[input];
    return control === undefined ? undefined : { key: control };
  }
  if (key.meta || key.super || key.hyper || input === '') return undefined;
  // Several keys in one piece of input, such as those typed ahead, are no press of any of them.
  return { typed: input };
}
