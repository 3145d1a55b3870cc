import { escapeText } from 'countersign/base';
import type { KeyPress } from './key-press.ts';

/** A text that a person writes. `at` counts its characters before the cursor. */
export interface TextField {
  characters: readonly string[];
  at: number;
}

/** The longest text that may be written; a decision may hold no longer reason. */
const longest = 20_000;
const cursor = '▏';

export function textField(text = ''): TextField {
  const characters = Array.from(text);
  return { characters, at: characters.length };
}

export function fieldText({ characters }: TextField): string {
  return characters.join('');
}

/** The field after a key press. `lines`: Enter and pasted line feeds break the line; else line feeds become blanks. */
export function typeInto(field: TextField, press: KeyPress, { lines = false } = {}): TextField {
  const { characters, at } = field;
  if ('typed' in press) return insert(field, press.typed.replaceAll(/[\r\n]/g, lines ? '\n' : ' '));
  if ('pasted' in press) return insert(field, press.pasted.replaceAll(/\r\n?|\n/g, lines ? '\n' : ' '));
  switch (press.key) {
    case 'left':
      return { characters, at: Math.max(0, at - 1) };
    case 'right':
      return { characters, at: Math.min(characters.length, at + 1) };
    case 'home':
      return { characters, at: lineStart(field) };
    case 'end':
      return { characters, at: lineEnd(field) };
    case 'up':
      return lines ? { characters, at: above(field) } : field;
    case 'down':
      return lines ? { characters, at: below(field) } : field;
    case 'backspace':
    case 'delete': // what many terminals send for the backspace key
      return at === 0 ? field : { characters: characters.toSpliced(at - 1, 1), at: at - 1 };
    case 'clear':
      return textField();
    case 'enter':
      return lines ? insert(field, '\n') : field;
    default:
      return field;
  }
}

/** The text with a cursor, one string per line, without invisible characters. */
export function shownField({ characters, at }: TextField): string[] {
  const before = characters.slice(0, at).join('').split('\n').map(escapeText);
  const after = characters.slice(at).join('').split('\n').map(escapeText);
  return [...before.slice(0, -1), `${before.at(-1)!}${cursor}${after[0]!}`, ...after.slice(1)];
}

function insert({ characters, at }: TextField, text: string): TextField {
  const added = Array.from(text).slice(0, Math.max(0, longest - characters.length));
  return { characters: characters.toSpliced(at, 0, ...added), at: at + added.length };
}

function lineStart({ characters, at }: TextField): number {
  return at === 0 ? 0 : characters.lastIndexOf('\n', at - 1) + 1;
}

function lineEnd({ characters, at }: TextField): number {
  const next = characters.indexOf('\n', at);
  return next === -1 ? characters.length : next;
}

function above(field: TextField): number {
  const start = lineStart(field);
  if (start === 0) return field.at;
  const previous = lineStart({ ...field, at: start - 1 });
  return Math.min(previous + (field.at - start), start - 1);
}

function below(field: TextField): number {
  const end = lineEnd(field);
  if (end === field.characters.length) return field.at;
  const column = field.at - lineStart(field);
  return Math.min(end + 1 + column, lineEnd({ ...field, at: end + 1 }));
}
