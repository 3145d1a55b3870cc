import type { Assignment, Word, WordPart } from 'unbash';

/** One word of a command, as far as it is known before the command runs. */
export interface ShellWord {
  /** After quote removal. What the shell would replace stays as written. */
  text: string;
  /** The shell replaces part of it: parameters, substitutions, globs, braces. */
  dynamic: boolean;
  /** It begins with a glob, so a file's name may turn it into an option. */
  wild: boolean;
}

const quoted: ReadonlySet<string> = new Set(['SingleQuoted', 'DoubleQuoted', 'AnsiCQuoted', 'LocaleString']);

/** A word, or an argument such as `a=b` of a builtin that assigns. */
export function shellWord(node: Word | Assignment): ShellWord {
  if (node.type === 'Word') {
    const parts = node.parts ?? [];
    return { text: node.value, dynamic: parts.some(isReplaced), wild: parts[0] !== undefined && isGlob(parts[0]) };
  }
  const index = node.index === undefined ? '' : `[${node.index.value}]`;
  const value = node.value.type === 'Word' ? node.value.value : node.text.slice(node.text.indexOf('=') + 1);
  return { text: `${node.name}${index}${node.append ? '+' : ''}=${value}`, dynamic: true, wild: false };
}

/** A word without expansions that `unwrap` adds to a command. */
export function plainWord(text: string): ShellWord {
  return { text, dynamic: false, wild: false };
}

function isReplaced(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') return part.parts.some(isReplaced);
  return part.type !== 'Literal' && !quoted.has(part.type);
}

function isGlob(part: WordPart): boolean {
  return part.type === 'Glob' || part.type === 'ExtendedGlob';
}
