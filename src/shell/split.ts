import { forEachChild, parse, type Pipeline, type Redirect, type Redirection, type SyntaxNode } from 'unbash';
import type { ShellPart, ShellSplit, Uncertainty } from '../core/shell/parts.ts';
import { blankInWord, maxPartsLength, maxShellLength, maxShellParts } from '../core/shell/parts.ts';
import { lastSegment, unwrap, type StartedCommand, type Unwrapped } from './unwrap.ts';
import type { InnerScript } from './options.ts';
import { isMisread, plainWord, shellWord, type ShellWord } from './words.ts';
import { assigningBuiltins, evaluatingBuiltins } from './wrappers.ts';

/** Maximum nesting of shell text in shell text (`bash -c "bash -c …"`). */
const maxDepth = 16;
/** Matches what opens a substitution or an expansion. The parser's time grows with the square of their number. */
const opening = /[$<>][({[]/g;
const maxOpenings = 256;

/** What a piece of syntax makes uncertain about the whole command, wherever it occurs. */
const doubts: Partial<Record<SyntaxNode['type'], Uncertainty>> = {
  CommandExpansion: 'substitution',
  ArithmeticCommandExpansion: 'substitution',
  ProcessSubstitution: 'substitution',
  SimpleExpansion: 'expansion',
  ParameterExpansion: 'expansion',
  ArithmeticExpansion: 'expansion',
  BraceExpansion: 'expansion',
  Assignment: 'assignment',
  For: 'assignment',
  Select: 'assignment',
  FileDescriptorVariable: 'assignment',
  AnsiCQuoted: 'not the same in every shell',
  LocaleString: 'not the same in every shell',
  ExtendedGlob: 'not the same in every shell',
  TestCommand: 'not the same in every shell',
  ArithmeticCommand: 'not the same in every shell',
  ArithmeticFor: 'not the same in every shell',
  Coproc: 'not the same in every shell',
};

/** Types of nodes in which blanks, brackets and operators are text. */
const withTexts: ReadonlySet<string> = new Set(['ParameterExpansion', 'TestCommand', 'ArithmeticExpansion']);

/**
 * Splits a shell command (bash or POSIX sh) into all simple commands that it can run, also in groups, loops, functions,
 * substitutions, here-documents and the arguments of known wrappers. `uncertain` gives the reasons why the parts may
 * not be what runs: if it is empty, no part is missing. Pure; never throws.
 *
 * @example
 * ```ts
 * import { splitShell } from 'countersign';
 *
 * const { parts, uncertain } = splitShell('cd /srv && sudo rm -rf old');
 * console.log(parts.map(({ text }) => text)); // [ 'cd /srv', 'sudo rm -rf old', 'rm -rf old' ]
 * console.log(uncertain); // [ 'wrapper program' ]
 * ```
 */
export function splitShell(command: string): ShellSplit {
  if (command.length > maxShellLength) return { parts: [], uncertain: ['too long'] };
  const split = new Splitter();
  split.script(command, 0);
  return split.result();
}

/** Collects the parts of one command, and the reasons why the parts may not be exactly what runs. */
class Splitter {
  readonly #parts: ShellPart[] = [];
  readonly #uncertain = new Set<Uncertainty>();
  #length = 0;
  /** True once a limit is reached: reading then stops. */
  #full = false;
  /** Texts of the command that the visited node may read as its standard input. */
  #input: readonly string[] = [];
  readonly #read = new Set<string>();

  result(): ShellSplit {
    if (this.#parts.length === 0 && this.#uncertain.size === 0) this.#uncertain.add('no command');
    return { parts: this.#parts, uncertain: [...this.#uncertain] };
  }

  /** Splits a script, of the given depth of nesting, into parts. What cannot be read makes the split uncertain. */
  script(text: string, depth: number, within?: Place): void {
    if (depth > maxDepth || text.length > maxShellLength) this.#stop();
    if (this.#full) return;
    // eslint-disable-next-line no-control-regex -- control characters are what it looks for
    if (/[\0-\x08\x0b-\x1f\x7f]/.test(text)) this.#uncertain.add('control character');
    if ((text.match(opening)?.length ?? 0) > maxOpenings) this.#stop();
    if (this.#full) return;
    try {
      this.#visit(parse(text), depth, within);
    } catch {
      // The parser and `#visit` are recursive, so deep nesting ends in a stack overflow.
      this.#uncertain.add('parse error');
    }
  }

  /** Collects the commands in a node, what they may read as input, and doubts. `isInner`: in a node of `withTexts`. */
  #visit(node: SyntaxNode, depth: number, within: Place | undefined, isInner = false): void {
    if (this.#full) return;
    const doubt = doubts[node.type];
    if (doubt !== undefined) this.#uncertain.add(doubt);
    if (node.type === 'Script' && (node.errors?.length ?? 0) > 0) this.#uncertain.add('parse error');
    if (node.type === 'HereDoc' && node.closing === undefined) this.#uncertain.add('parse error');
    if (node.type === 'Word' && isMisread(node, isInner)) this.#uncertain.add('parse error');
    if (node.type === 'Pipeline') this.#pipeline(node, depth, within);
    if (node.type === 'Redirect') this.#redirect(node);
    const outer = this.#input;
    if (node.type === 'Command' || node.type === 'Redirected') {
      // A command may also read what its arguments write, as in `bash <(echo rm)`.
      const words = node.type === 'Command' ? node.args.flatMap(writtenBy) : [];
      this.#input = [...outer, ...node.redirects.flatMap(textsOf), ...words];
    }
    if (node.type === 'Command' && node.name !== undefined) {
      this.#words([node.name, ...node.args].map(shellWord), depth, within);
    }
    const isInnerNow = (isInner && node.type !== 'Script') || withTexts.has(node.type);
    forEachChild(node, (child) => {
      this.#visit(child, depth, within, isInnerNow);
      // The next commands of a pipeline may read the output of the first.
      if (node.type === 'Pipeline') this.#input = [...this.#input, ...writtenBy(child)];
    });
    this.#input = outer;
  }

  /** `time` is a keyword of bash. In another shell it is a program, whose options come before the command. */
  #pipeline({ prefixes, commands: [first] }: Pipeline, depth: number, within: Place | undefined): void {
    if (first?.type !== 'Command' || first.name?.text.startsWith('-') !== true) return;
    if (!prefixes.some(({ type }) => type === 'Time')) return;
    this.#uncertain.add('not the same in every shell');
    this.#words([plainWord('time'), ...[first.name, ...first.args].map(shellWord)], depth, within);
  }

  /** Adds the doubt of a redirection, unless it only joins or closes descriptors, as `2>&1` does. */
  #redirect({ operator, target }: Redirect): void {
    if (operator === '<') this.#uncertain.add('redirection from a file');
    else if (!(operator === '>&' || operator === '<&') || !/^(\d+-?|-)$/.test(target?.text ?? '')) {
      this.#uncertain.add('redirection to a file');
    }
  }

  /** Adds the command with these words as a part, and then the commands and scripts that it runs itself. */
  #words(words: ShellWord[], depth: number, within: Place | undefined): void {
    const [program] = words;
    if (program === undefined || this.#full) return;
    if (program.dynamic || !/^[^~\s\p{Cc}][^\s\p{Cc}]*$/u.test(program.text)) {
      this.#uncertain.add('dynamic command name');
    }
    const name = lastSegment(program.text);
    this.#builtin(name, words.slice(1), depth, within);
    const unwrapped = unwrap(words);
    const index = this.#add(words, name, unwrapped, within);
    if (unwrapped === undefined) return;
    this.#uncertain.add('wrapper program');
    if (unwrapped.unknownOption) this.#uncertain.add('unknown option');
    if (unwrapped.cut) this.#uncertain.add('too long');
    if (depth >= maxDepth) this.#stop();
    const places = new Places(words);
    if (unwrapped.readsInput) this.#readInput(depth, index);
    for (const script of unwrapped.scripts) this.script(script.text, depth + 1, { index, at: places.ofScript(script) });
    for (const inner of unwrapped.commands) this.#words(inner.words, depth + 1, { index, at: places.ofCommand(inner) });
  }

  /** Splits the texts that a shell may read as input, each only once: for another shell it has the same parts. */
  #readInput(depth: number, index: number): void {
    for (const text of this.#input) {
      if (this.#read.has(text)) continue;
      this.#read.add(text);
      this.script(text, depth + 1, { index, at: undefined });
    }
  }

  /** Adds the doubt of a builtin that assigns. Visits substitutions that a builtin runs even if they are in quotes. */
  #builtin(name: string, args: ShellWord[], depth: number, within: Place | undefined): void {
    const setsVariable = name === 'printf' && args[0]?.text.startsWith('-v');
    if (assigningBuiltins.has(name) || setsVariable) this.#uncertain.add('assignment');
    // Only after `-v` do `test` and `printf` take a name, whose index may be a substitution.
    const evaluates =
      name === 'test' || name === '[' ? args.some(({ text }) => text === '-v') : name !== 'printf' || setsVariable;
    if (!evaluates || !evaluatingBuiltins.has(name)) return;
    const quoted = args.map(({ text }) => text).filter((text) => /[$`]/.test(text));
    if (quoted.length > 0) this.#substitutions(quoted.join('\n'), depth, within);
  }

  /** Visits the substitutions in a text, as a here-document, which has no other syntax. The text lacks its `end`. */
  #substitutions(text: string, depth: number, within: Place | undefined): void {
    const longest = Array.from(text.matchAll(/END_*/g)).reduce((most, [each]) => Math.max(most, each.length), 0);
    const end = 'END'.padEnd(longest + 1, '_');
    const command = parse(`: <<${end}\n${text}\n${end}\n`).commands[0]?.command;
    if (command?.type !== 'Command') return this.#stop();
    for (const redirect of command.redirects) this.#visit(redirect, depth, within);
  }

  /** Adds a part, and returns its index, or -1 if that exceeds a limit. `unwrapped`: what the part itself starts. */
  #add(words: ShellWord[], name: string, unwrapped: Unwrapped | undefined, place: Place | undefined): number {
    const texts = words.map((word) => word.text);
    const text = wholeText(texts);
    const reduced = wholeText(texts.with(0, name));
    const marked = wholeText(texts.map((each) => each.replaceAll(' ', blankInWord)));
    const wordText = marked === text ? undefined : marked;
    this.#length += text.length + reduced.length + (wordText?.length ?? 0);
    if (this.#parts.length >= maxShellParts || this.#length > maxPartsLength) {
      this.#stop();
      return -1;
    }
    const { index: within, at } = place ?? {};
    const wrapper = unwrapped?.wrapper ?? (within === undefined ? undefined : this.#parts[within]?.wrapper);
    const unknownOption = unwrapped?.unknownOption === true ? true : undefined;
    return this.#parts.push({ text, wordText, reduced, wrapper, within, at, unknownOption }) - 1;
  }

  #stop(): void {
    this.#full = true;
    this.#uncertain.add('too long');
  }
}

function textsOf(redirect: Redirection): string[] {
  if (redirect.type === 'HereDoc') return [redirect.body.text];
  return redirect.type === 'HereString' && redirect.target !== undefined ? [redirect.target.value] : [];
}

/** The texts that a node may write: its own input, and the words of `echo` and `printf` without the options. */
function writtenBy(node: SyntaxNode): string[] {
  const texts: string[] = [];
  const visit = (each: SyntaxNode): void => {
    if (each.type === 'HereDoc' || each.type === 'HereString') texts.push(...textsOf(each));
    if (each.type === 'Command' && /^(?:echo|printf)$/.test(lastSegment(each.name?.value ?? ''))) {
      const words = each.args.map((arg) => shellWord(arg).text).filter((text) => !/^-[neE]{1,3}$/.test(text));
      texts.push(words.join(' ').replaceAll('\\n', '\n'));
    }
    forEachChild(each, visit);
  };
  visit(node);
  return texts;
}

/** The wrapper around a part, and the place of the part in the wrapper's text. */
interface Place {
  index: number;
  at: ShellPart['at'];
}

/** Finds the positions of a wrapper's words in its text. */
class Places {
  readonly #text: string;
  readonly #starts = new Map<ShellWord, number>();

  constructor(words: readonly ShellWord[]) {
    this.#text = words.map(({ text }) => text).join(' ');
    let start = 0;
    for (const word of words) {
      this.#starts.set(word, start);
      start += word.text.length + 1;
    }
  }

  ofCommand({ words, end }: StartedCommand): ShellPart['at'] {
    const own = words.filter((word) => this.#starts.has(word));
    return this.#between(own[0], end ?? own.at(-1));
  }

  ofScript({ text, first, last }: InnerScript): ShellPart['at'] {
    if (first !== undefined) return this.#between(first, last);
    const place = this.#between(last, last);
    const from = place === undefined ? -1 : place[1] - text.length;
    return from >= 0 && this.#text.startsWith(text, from) ? [from, place![1]] : undefined;
  }

  #between(first: ShellWord | undefined, last: ShellWord | undefined): ShellPart['at'] {
    const from = first && this.#starts.get(first);
    const start = last && this.#starts.get(last);
    return from === undefined || start === undefined ? undefined : [from, start + last!.text.length];
  }
}

/** Joins words, without half a surrogate pair, which `$'\ud800'` would give. */
function wholeText(words: string[]): string {
  return words.join(' ').replace(/\p{Surrogate}/gu, '\uFFFD');
}
