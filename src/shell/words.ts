import type { Assignment, Word, WordPart } from 'unbash';

/** One word of a command, as far as known before the command runs. */
export interface ShellWord {
  /** The text after quote removal. The parts that the shell would replace stay as written. */
  text: string;
  /** True if the shell replaces a part of the word: parameters, substitutions, globs, braces. */
  dynamic: boolean;
  /** The text before the first glob and after the last; absent without globs. A file's name may replace all of it. */
  glob?: { before: string; after: string };
}

const quoted: ReadonlySet<string> = new Set(['SingleQuoted', 'DoubleQuoted', 'AnsiCQuoted', 'LocaleString']);

/** Reads a word, or an argument such as `a=b` of a builtin that assigns, which always counts as dynamic. */
export function shellWord(node: Word | Assignment): ShellWord {
  if (node.type === 'Word') {
    const parts = node.parts ?? [];
    const word = { text: node.value, dynamic: parts.some(isReplaced) };
    const first = parts.findIndex(isGlob);
    if (first === -1) return word;
    const before = parts.slice(0, first).map(wordValue).join('');
    const after = parts.slice(parts.findLastIndex(isGlob) + 1).map(wordValue);
    return { ...word, glob: { before, after: after.join('') } };
  }
  const index = node.index === undefined ? '' : `[${node.index.value}]`;
  const value = node.value.type === 'Word' ? node.value.value : node.text.slice(node.text.indexOf('=') + 1);
  return { text: `${node.name}${index}${node.append ? '+' : ''}=${value}`, dynamic: true };
}

/** Matches what ends a word outside of quotes. In an expansion or a test, only a process substitution does. */
const endsWord = /[<>()|&; \t\n]/;
const beginsProcess = /[<>]\(/;
/** Matches what begins an expansion, with or without quotes. */
const beginsExpansion = /\$[\w({[@*#?!$-]|`/;

/**
 * True if the shell reads a word differently from the parser. Either unquoted text has a sign that ends words, as in
 * `2>(rm x)`, where bash starts `rm`, or none of the word's parts has the text. `isInner`: in an expansion or a test.
 */
export function isMisread({ text, parts }: Word, isInner: boolean): boolean {
  const ends = isInner ? beginsProcess : endsWord;
  if (parts === undefined) return isMisreadText(text, ends);
  if (parts.map((part) => part.text).join('') !== text) return true;
  return parts.some((part) => {
    if (part.type === 'Literal') return isMisreadText(part.text, ends);
    if (part.type !== 'DoubleQuoted' && part.type !== 'LocaleString') return false;
    return part.parts.some((inner) => inner.type === 'Literal' && isMisreadText(inner.text));
  });
}

function isMisreadText(written: string, ends?: RegExp): boolean {
  // The shell joins a continued line first: `$\` and `HOME` on the next line are one parameter.
  const bare = written.replace(/\\[^\n]/g, '.').replaceAll('\\\n', '');
  return beginsExpansion.test(bare) || ends?.test(bare) === true;
}

/** True if the word begins with a glob, so that a file's name may turn it into an option. */
export function isWild({ glob }: ShellWord): boolean {
  return glob?.before === '';
}

/** True if a file's name that matches the glob may turn the word into `text` or, unless `whole`, into a longer word. */
export function mayBecome({ glob }: ShellWord, text: string, { whole }: { whole: boolean }): boolean {
  if (glob === undefined) return false;
  const { before, after } = glob;
  // An option's letter may be among others, and its value may follow: `-xIf`.
  if (/^-[A-Za-z]$/.test(text)) return before === '' || /^-(?!-)/.test(before);
  if (!whole) return text.startsWith(before) || before.startsWith(text);
  return before.length + after.length <= text.length && text.startsWith(before) && text.endsWith(after);
}

/** A word without expansions that `unwrap` adds to a command. */
export function plainWord(text: string): ShellWord {
  return { text, dynamic: false };
}

function isReplaced(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') return part.parts.some(isReplaced);
  return part.type !== 'Literal' && !quoted.has(part.type);
}

/** The text of a part after quote removal. */
function wordValue(part: WordPart): string {
  if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') return part.parts.map(wordValue).join('');
  return 'value' in part ? part.value : part.text;
}

function isGlob(part: WordPart): boolean {
  return part.type === 'Glob' || part.type === 'ExtendedGlob';
}
