/** A command line cut into words for a look at it: no parser, so it sees rather more commands than fewer. */
export interface CommandWords {
  /** Without quotes, backslashes and redirections. */
  words: readonly string[];
  /** Its input comes from a command before it in the line. */
  piped: boolean;
  /** The files that `>` writes to. */
  writesTo: readonly string[];
}

/**
 * Cuts at `;`, `&`, `|`, brackets, backquotes and line breaks, also inside quotes: what another shell would run from
 * them is seen, too. Linear in the text.
 */
export function commandWords(text: string): CommandWords[] {
  const plain = text
    .replace(/\$\{(\w{1,40})\}/g, '$$$1')
    .replace(/\\\n/g, ' ')
    .replace(/['"\\]/g, '');
  const commands: { words: string[]; piped: boolean; writesTo: string[] }[] = [];
  let current = { words: [] as string[], piped: false, writesTo: [] as string[] };
  let redirection = '';
  for (const token of plain.match(/[\n;&|(){}`]+|[<>]+|[^\s;&|(){}`<>]+/g) ?? []) {
    if (/^[<>]/.test(token)) {
      redirection = token;
    } else if (/^[\n;&|(){}`]/.test(token)) {
      // `>&2` and `{}` of find: neither ends a command.
      if (token === '{}' || (redirection !== '' && token.startsWith('&'))) continue;
      commands.push(current);
      current = { words: [], piped: /^\|&?$/.test(token), writesTo: [] };
      redirection = '';
    } else {
      if (redirection === '') current.words.push(token);
      else if (redirection.includes('>')) current.writesTo.push(token);
      redirection = '';
    }
  }
  return [...commands, current].filter(({ words, writesTo }) => words.length > 0 || writesTo.length > 0);
}

/** They start the program that one of their words names. */
const wrappers = new Set(
  (
    'sudo doas su env command exec builtin nohup nice ionice time timeout xargs parallel watch setsid stdbuf busybox ' +
    'bash sh zsh dash ksh fish eval ssh chroot find if then else elif do while until ! npx uvx'
  ).split(' '),
);
const containerPrograms = new Set('docker podman nerdctl kubectl oc'.split(' '));

/**
 * The programs that the words may start, and the place of each: the first word that is no assignment; after a wrapper
 * every word, since which of them it starts is not told here. In lower case, without path and `.exe`.
 */
export function programsIn(words: readonly string[]): Map<string, number> {
  const programs = new Map<string, number>();
  const first = words.findIndex((word) => !/^\w+\+?=/.test(word));
  if (first === -1) return programs;
  const program = programName(words[first]!);
  const inContainer = containerPrograms.has(program) && (words.includes('exec') || words.includes('run'));
  const last = wrappers.has(program) || inContainer ? words.length - 1 : first;
  for (let index = first; index <= last; index += 1) {
    const name = programName(words[index]!);
    if (!programs.has(name)) programs.set(name, index);
  }
  return programs;
}

function programName(word: string): string {
  return word
    .slice(word.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/\.exe$/, '');
}
