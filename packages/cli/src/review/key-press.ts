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

/** Translates what ink reports. Empty for a key that means nothing here. */
export function keyPressesOf(input: string, key: Key): KeyPress[] {
  const [, name] = named.find(([flag]) => key[flag] === true) ?? [];
  if (name !== undefined) return [{ key: name }];
  if (key.ctrl) {
    const control = withControl[input];
    return control === undefined ? [] : [{ key: control }];
  }
  if (key.meta || key.super || key.hyper || input === '') return [];
  return pieces(input);
}

const controls: Record<string, NamedKey> = { '\r': 'enter', '\u0013': 'save', '\u0015': 'clear' };

const splitter = new RegExp(String.raw`(\r$|\u0013|\u0015)`);

/**
 * Keys that are typed fast, or over a slow line, arrive in one piece. A text stays one press, so that several letters are
 * the press of none of them; Enter at its end, and control keys, are presses of their own.
 */
function pieces(input: string): KeyPress[] {
  return input
    .split(splitter)
    .filter((piece) => piece !== '')
    .map((piece) => (controls[piece] === undefined ? { typed: piece } : { key: controls[piece] }));
}
