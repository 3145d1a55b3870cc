/** A command line cut into words for assessment. Without a parser, it finds too many commands rather than too few. */
export interface CommandWords {
  /** Without quotes, backslashes and redirections. */
  words: readonly string[];
  /** Its input comes from the command before it. */
  piped: boolean;
  /** The files that `>` and `>>` write to. */
  writesTo: readonly string[];
  /** Those of them that `>` writes anew. */
  overwrites: readonly string[];
}

/**
 * Cuts at `;`, `&`, `|`, brackets, backquotes and line breaks, even inside quotes, so that it also finds what another
 * shell would run from them. Linear in the text.
 */
export function commandWords(text: string): CommandWords[] {
  const plain = text
    .replace(/\$\{(\w{1,40})\}/g, '$$$1')
    .replace(/\\\n/g, ' ')
    .replace(/['"\\]/g, '');
  const begin = (piped: boolean) => ({
    words: [] as string[],
    piped,
    writesTo: [] as string[],
    overwrites: [] as string[],
  });
  const commands: ReturnType<typeof begin>[] = [];
  let current = begin(false);
  let redirection = '';
  for (const token of plain.match(/[\n;&|(){}`]+|[<>]+|[^\s;&|(){}`<>]+/g) ?? []) {
    if (/^[<>]/.test(token)) {
      redirection = token;
    } else if (/^[\n;&|(){}`]/.test(token)) {
      // `>&2`, `>|` and the `{}` of find do not end a command.
      if (token === '{}' || (redirection !== '' && token.startsWith('&'))) continue;
      if (redirection === '>' && token === '|') continue;
      commands.push(current);
      current = begin(/^\|&?$/.test(token));
      redirection = '';
    } else {
      if (redirection === '') current.words.push(token);
      else if (redirection.includes('>')) {
        current.writesTo.push(token);
        if (redirection === '>') current.overwrites.push(token);
      }
      redirection = '';
    }
  }
  return [...commands, current].filter(({ words, writesTo }) => words.length > 0 || writesTo.length > 0);
}

/** Programs that start the program that one of their words names. */
const wrappers = new Set(
  (
    'sudo doas su env command exec builtin nohup nice ionice time timeout xargs parallel watch setsid stdbuf busybox ' +
    'bash sh zsh dash ksh fish eval ssh chroot find if then else elif do while until ! npx uvx'
  ).split(' '),
);
const containerPrograms = new Set('docker podman nerdctl kubectl oc'.split(' '));

/**
 * The programs that the words may start, with their positions: the first word that is not an assignment; after a
 * wrapper every word, since it is not determined which one the wrapper starts. In lower case, without path and `.exe`.
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
