import { isWild, type ShellWord } from './words.ts';
import type { Wrapper } from './wrappers.ts';

/** Shell text among the words of a wrapper. It spans the words `first` to `last`. Without `first`, it ends the word `last`. */
export interface InnerScript {
  text: string;
  first?: ShellWord;
  last: ShellWord;
}

/** A wrapper's options, read as the program itself would read them. */
export interface ReadOptions {
  /** Values of the options that take shell text. */
  scripts: InnerScript[];
  given: Set<string>;
  operands: ShellWord[];
  /** Index of the word with an unlisted option; later words are not read. */
  unknownAt?: number;
}

/** Reads the words after the program. `permuted`: options may also follow operands, as in GNU programs. */
export function readOptions(wrapper: Wrapper, words: readonly ShellWord[], permuted: boolean): ReadOptions {
  const scriptOptions = (wrapper.scripts ?? '').split(' ');
  const long = (wrapper.long ?? '').split(' ');
  const read: ReadOptions = { scripts: [], given: new Set(), operands: [] };
  let index = 0;
  /** Skips an option's value. False for a glob, which may become two words: the second would be the command. */
  const takeNext = (): boolean => words[++index]?.glob === undefined;
  const takeScript = (value: string | undefined): boolean => {
    const isKnown = value !== undefined || takeNext();
    const last = words[index];
    if (last !== undefined) read.scripts.push({ text: value ?? last.text, last });
    return isKnown;
  };
  for (; index < words.length; index++) {
    const { text } = words[index]!;
    const wild = isWild(words[index]!);
    const assigns = wrapper.assignments && /^[A-Za-z_][A-Za-z0-9_]*=/.test(text);
    const mayBeOption = text.startsWith('-') || wild || assigns || (wrapper.runs === 'shell' && text.startsWith('+'));
    if (!mayBeOption) {
      if (!permuted) break;
      read.operands.push(words[index]!);
    } else if (text === '--') {
      index += 1;
      break;
    } else if (wild) {
      // A file's name may turn the word into any option.
      read.unknownAt = index;
      return read;
    } else if (assigns || text === '-') {
      continue;
    } else if (!(text.startsWith('--') ? readLong(text) : readLetters(text))) {
      return { ...read, unknownAt: index };
    }
  }
  read.operands.push(...words.slice(index));
  return read;

  /** Reads a long option, such as `--user=ann`. False if the option is unknown, or if `takeNext` refuses its value. */
  function readLong(text: string): boolean {
    const equals = text.indexOf('=');
    const name = equals === -1 ? text : text.slice(0, equals);
    const value = equals === -1 ? undefined : text.slice(equals + 1);
    read.given.add(name.slice(2));
    if (scriptOptions.includes(name)) return takeScript(value);
    if (long.includes(`${name.slice(2)}=`)) return value !== undefined || takeNext();
    return long.includes(name.slice(2));
  }

  /** Reads a word of short options, such as `-xzf`. False for an unknown letter, or if `takeNext` refuses its value. */
  function readLetters(text: string): boolean {
    for (let at = 1; at < text.length; at++) {
      const letter = text[at]!;
      const rest = text.slice(at + 1);
      read.given.add(letter);
      if (scriptOptions.includes(`-${letter}`)) return takeScript(rest === '' ? undefined : rest);
      if (wrapper.values?.includes(letter)) return rest !== '' || takeNext();
      if (wrapper.attached?.includes(letter)) return true;
      if (!wrapper.flags?.includes(letter)) return false;
    }
    return true;
  }
}

/**
 * True if a word is the option, or could be. A long option may be shortened and have a value (`--checkpoint-act=x`), a
 * letter may be among others (`-xIf`), and an option without a dash (`SHELL=`, `+`, `run`) begins the word.
 */
export function isOption(word: string, option: string): boolean {
  if (option.startsWith('--')) {
    const name = word.split('=', 1)[0]!;
    return name.length > 2 && name.startsWith('--') && option.startsWith(name);
  }
  if (/^-[A-Za-z]$/.test(option)) return /^-[A-Za-z0-9]/.test(word) && word.includes(option.slice(1));
  return option.startsWith('-') ? word === option || word.startsWith(`${option}=`) : word.startsWith(option);
}
