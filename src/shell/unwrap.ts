import { isOption, readOptions, type InnerScript } from './options.ts';
import { maxShellParts } from '../core/shell/parts.ts';
import { isWild, mayBecome, plainWord, type ShellWord } from './words.ts';
import { gitSubcommands, wrappers, type Wrapper } from './wrappers.ts';

export interface Unwrapped {
  /** The program without its path, and the option or subcommand that makes it a wrapper: `find -exec`, `git -c`. */
  wrapper: string;
  commands: StartedCommand[];
  /** Shell text, to be split in turn. */
  scripts: InnerScript[];
  /** True if an option is unknown: `commands` and `scripts` are then every place where a command could begin. */
  unknownOption: boolean;
  /** True if there are more such places than `maxGuesses`. */
  cut: boolean;
  /** True: the standard input of the program may be shell text. */
  readsInput: boolean;
}

/** A command that a wrapper starts. Its words can differ from those written: `xargs rm` starts `rm {}`. */
export interface StartedCommand {
  words: ShellWord[];
  /** The word that ends the command, such as the `;` of `find`. */
  end?: ShellWord;
}

/** Maximum number of places tried after an unknown option. */
const maxGuesses = 16;

/** Finds the commands that a command starts; undefined for an ordinary program. */
export function unwrap(words: readonly ShellWord[]): Unwrapped | undefined {
  const wrapper = lastSegment(words[0]!.text);
  const form = wrappers.get(tableName(wrapper));
  if (form === undefined) return undefined;
  const found = contentsOf(form, words.slice(1));
  if (found === undefined) return undefined;
  const { by, ...contents } = found;
  const name = by === undefined ? wrapper : `${wrapper} ${by}`;
  const readsInput = readsShellText(form, contents);
  return { commands: [], scripts: [], unknownOption: false, cut: false, readsInput, ...contents, wrapper: name };
}

/** True if a program without a command starts a shell, as `sudo -s`, `ssh host` and `su` do; false for `xargs`. */
function readsShellText(form: Wrapper, { commands = [], scripts = [] }: Contents): boolean {
  if (form.runs === 'code') return form.input === true;
  const isOther = form.subcommands !== undefined || (form.runs === 'words' && form.appends === true);
  return !isOther && commands.every(({ words }) => words.length === 0) && scripts.length === 0;
}

/** True for a name of the standard input, as in `bash /dev/stdin` and `bash -`. */
function isInput(word: string): boolean {
  return word === '-' || /^\/(?:dev\/stdin|dev\/fd\/\d{1,3}|proc\/self\/fd\/\d{1,3})$/.test(word);
}

/** A program's name in the table: without version and `.exe`, and in lower case, as some file systems ignore case. */
function tableName(program: string): string {
  const name = program.toLowerCase().replace(/\.exe$/, '');
  return wrappers.has(name) ? name : withoutVersion(name);
}

/** Returns `python` for `python3.12`. A regular expression would try anew at each digit of a long number. */
function withoutVersion(name: string): string {
  let end = name.length;
  for (let at = end; at > 0 && /[0-9.]/.test(name[at - 1]!); at -= 1) if (name[at - 1] !== '.') end = at - 1;
  const isParted = end < name.length && end > 0 && /[-.]/.test(name[end - 1]!);
  return name.slice(0, isParted ? end - 1 : end);
}

export function lastSegment(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}

/** `by`: the option or subcommand that makes the program a wrapper. */
type Contents = Partial<Omit<Unwrapped, 'wrapper'>> & { by?: string };

/** What a program such as `bash`, `sudo` or `find` runs with these arguments; undefined if nothing. */
function contentsOf(form: Wrapper, args: ShellWord[]): Contents | undefined {
  if (form.runs === 'git') return contentsOfGit(form, args);
  if (form.unlessFile && isFileOrVersion(args)) return undefined;
  if (form.onlyWith !== undefined) return contentsWith(form, args);
  if (form.subcommands !== undefined) return contentsOfSubcommand(form, args);
  const { scripts, given, operands, unknownAt } = readOptions(form, args, form.runs === 'options');
  if (form.runs === 'code') return {};
  if (unknownAt !== undefined) return guess(form, args.slice(unknownAt), scripts);
  const before = operands.slice(0, form.operands ?? 0);
  // A glob may become several words, so the command may begin at any later one.
  if (before.some(({ glob }) => glob !== undefined)) return guess(form, operands, scripts);
  const rest = operands.slice(before.length);
  if (form.optionsAgain) return contentsOfRemote(form, scripts, rest);
  switch (form.runs) {
    case 'options':
      return { scripts };
    case 'shell':
      return contentsOfShell(args, given, operands);
    case 'first':
      return { scripts: operands.slice(0, 1).map(scriptOf) };
    case 'definitions':
      return { scripts: operands.map((last) => ({ text: last.text.slice(last.text.indexOf('=') + 1), last })) };
    case 'script':
      return {
        scripts: [...scripts, ...appended(form, beforeSources(rest)).map(({ words }) => scriptOfAll(words, rest))],
      };
    default:
      return contentsOfWords(form, scripts, rest);
  }
}

/** What a shell runs: the text of `-c`, or else a file or its input. `operands`: the words after its options. */
function contentsOfShell(args: ShellWord[], given: ReadonlySet<string>, operands: ShellWord[]): Contents {
  if (given.has('c')) {
    const by = args.find(({ text }) => /^-\w*c/.test(text))?.text ?? '-c';
    return { scripts: operands.slice(0, 1).map(scriptOf), by };
  }
  const [file] = operands;
  // A shell with a file reads no commands from its input, unless the file's name is unknown and may be empty.
  const readsInput = given.has('s') || file === undefined || file.dynamic || isInput(file.text);
  return { scripts: [], readsInput };
}

/** What a program such as `env` runs: the command in `words`, or each shell text of its options followed by `words`. */
function contentsOfWords(form: Wrapper, scripts: InnerScript[], words: ShellWord[]): Contents {
  // `flock FILE -c TEXT` has its option after the operand.
  if (/^(?:-c|--c\w*)$/.test(words[0]?.text ?? ''))
    return { scripts: [...scripts, ...words.slice(1, 2).map(scriptOf)] };
  if (scripts.length === 0) return { commands: appended(form, words) };
  // `env -S TEXT` puts its text before the other words.
  const joined = scripts.map(({ text, last }) => ({
    text: joinWords([plainWord(text), ...words]),
    last: words.at(-1) ?? last,
  }));
  // `env -S` has its own escapes and variables, which a shell reads differently.
  const unknownOption = form.assignments === true && scripts.some(({ text }) => /[\\$]/.test(text));
  return { scripts: joined, unknownOption };
}

/** Returns what `ssh` runs. Options may also stand after the host, and the values of some options are commands. */
function contentsOfRemote(form: Wrapper, scriptsBefore: InnerScript[], afterHost: ShellWord[]): Contents {
  const { scripts, operands, unknownAt } = readOptions(form, afterHost, false);
  const settings = [...scriptsBefore, ...scripts].flatMap(({ text, last }) => {
    // Like `ssh`, ignore blanks before the key, and quotes around it.
    const [whole] = /^[\s"]*\w*command"?\s*[=\s]\s*/i.exec(text) ?? [];
    return whole === undefined ? [] : [{ text: text.slice(whole.length), last }];
  });
  if (unknownAt !== undefined) return guess(form, afterHost.slice(unknownAt), settings);
  return { scripts: [...settings, ...(operands.length === 0 ? [] : [scriptOfAll(operands, operands)])] };
}

function isFileOrVersion(args: ShellWord[]): boolean {
  const [first] = args;
  if (first === undefined || isWild(first)) return false;
  // `bun exec TEXT` and `deno eval CODE` begin with a subcommand, not with the name of a file.
  if (/^(?:exec|eval|repl|x)$/.test(first.text)) return false;
  return !first.text.startsWith('-') || (args.length === 1 && /^(--version|-V|--help)$/.test(first.text));
}

/** What `find` runs, or a program that starts others only with certain options; undefined without such an option. */
function contentsWith(form: Wrapper, args: ShellWord[]): Contents | undefined {
  const options = form.onlyWith!.split(' ');
  const [first, ...others] = args;
  const dashed = form.bundled && first && !first.text.startsWith('-') ? [withDash(first), ...others] : args;
  const { starts, unknownOption } = startsIn(dashed, options, form.runs === 'find');
  if (starts.length === 0) return undefined;
  const by = dashed[starts[0]!]!.text.replace(/=.*$/s, '');
  // One part more than the limit is enough, because the split is then `too long`.
  const readable = starts.slice(0, maxShellParts + 1);
  if (form.runs === 'find') {
    return { commands: readable.map((start) => upToEnd(args.slice(start + 1))), by, unknownOption };
  }
  // In `tar xIf a b`, the values of the letters are later words, and any of them can be the command of `I`.
  if (dashed !== args && starts[0] === 0) return { scripts: others.map(scriptOf), by: first!.text, unknownOption };
  return { scripts: starts.flatMap((start) => optionValue(args, start)), by, unknownOption };
}

/** The places of options, and of words that may become options (`unknownOption`) or, unless `whole`, begin with one. */
function startsIn(
  words: readonly ShellWord[],
  options: readonly string[],
  whole: boolean,
): { starts: number[]; unknownOption: boolean } {
  const isStart = ({ text }: ShellWord): boolean => options.some((option) => isOption(text, option));
  const mayStart = (word: ShellWord): boolean => options.some((option) => mayBecome(word, option, { whole }));
  const starts = words.flatMap((word, index) => (isStart(word) || mayStart(word) ? [index] : []));
  return { starts, unknownOption: starts.some((index) => !isStart(words[index]!)) };
}

function withDash(word: ShellWord): ShellWord {
  const { text, glob } = word;
  return { ...word, text: `-${text}`, ...(glob && { glob: { ...glob, before: `-${glob.before}` } }) };
}

/**
 * Returns what a subcommand starts: `pytest` in `uv run pytest`, `rm` in `docker exec -it box rm`. `exec:1` in the
 * table means that one operand, `box`, comes first; options may follow it, as in `kubectl exec pod -c app -- ls`. After
 * an option that the table lacks, the command may begin at any word, so all are returned.
 */
function contentsOfSubcommand(form: Wrapper, args: ShellWord[]): Contents | undefined {
  const operandCounts = operandCountsOf(form.subcommands!);
  const mayBeOne = (word: ShellWord): boolean =>
    [...operandCounts.keys()].some((subcommand) => mayBecome(word, subcommand, { whole: true }));
  const place = args.findIndex((word) => operandCounts.has(word.text) || mayBeOne(word));
  if (place === -1) return undefined;
  const by = args[place]!.text;
  const rest = args.slice(place + 1);
  const { operands, unknownAt } = readOptions(form, rest, false);
  const count = operandCounts.get(by);
  const before = operands.slice(0, count);
  const after = operands.slice(before.length);
  const isKnown = count !== undefined && unknownAt === undefined && before.every(({ glob }) => glob === undefined);
  // A word with a dash in place of the command is an option, so read options again.
  const hasMoreOptions = count !== 0 && after[0]?.text.startsWith('-') === true;
  const again = hasMoreOptions ? readOptions(form, after, false) : undefined;
  const words = again?.operands ?? after;
  if (isKnown && again?.unknownAt === undefined && words[0]?.text.startsWith('-') !== true) {
    return { commands: [{ words }], by };
  }
  return { ...guess(form, rest, []), by };
}

/** Reads `run exec:1` from the table: no operand comes before the command of `run`, one before that of `exec`. */
function operandCountsOf(subcommands: string): Map<string, number> {
  const pairs = subcommands.split(' ').map((written) => written.split(':'));
  return new Map(pairs.map(([name = '', count = '0']) => [name, Number(count)]));
}

function upToEnd(words: ShellWord[]): StartedCommand {
  const end = words.findIndex(({ text }, at) => text === ';' || (text === '+' && words[at - 1]?.text === '{}'));
  return end === -1 ? { words } : { words: words.slice(0, end), end: words[end] };
}

/** The value of an option, empty without one: the text after its `=`, or the next word. In tar, `exec=` precedes it. */
function optionValue(args: ShellWord[], at: number): InnerScript[] {
  const own = args[at]!;
  const [last = own] = own.text.includes('=') ? [] : args.slice(at + 1, at + 2);
  if (last === own && !own.text.includes('=')) return [];
  const text = last === own ? own.text.slice(own.text.indexOf('=') + 1) : last.text;
  return [{ text: text.replace(/^exec=/, ''), last }];
}

/** What `git` runs by settings or a subcommand and, after global options, `git` without these; undefined if nothing. */
function contentsOfGit(form: Wrapper, args: ShellWord[]): Contents | undefined {
  if (args.length === 1 && /^(-v|--version|--help)$/.test(args[0]!.text)) return undefined;
  const { scripts, operands, unknownAt } = readOptions(form, args, false);
  if (unknownAt !== undefined) return guess(form, args.slice(unknownAt), configured(scripts), plainWord('git'));
  const [subcommand, ...rest] = operands;
  const by = scripts.length > 0 ? { by: '-c' } : {};
  if (subcommand === undefined) return args.length > 0 ? { scripts: configured(scripts), ...by } : undefined;
  if (operands.length < args.length) {
    const withoutOptions = { words: [plainWord('git'), ...operands] };
    return { scripts: configured(scripts), commands: [withoutOptions], ...by };
  }
  const mayBeOne = [...gitSubcommands.keys()].some((each) => mayBecome(subcommand, each, { whole: true }));
  if (mayBeOne || gitSubcommands.get(subcommand.text) === '') return { ...guess(form, rest, []), by: subcommand.text };
  const options = gitSubcommands.get(subcommand.text)?.split(' ') ?? [];
  const precedesCommand = options[0]?.startsWith('-') === false;
  const { starts, unknownOption } = startsIn(rest, options, precedesCommand);
  if (starts.length === 0) return undefined;
  const starting = `${subcommand.text} ${rest[starts[0]!]!.text.replace(/=.*$/s, '')}`;
  if (!precedesCommand) {
    const scripts = configured(starts.flatMap((start) => optionValue(rest, start)));
    return { scripts, by: starting, unknownOption };
  }
  const command = rest.slice(starts[0]! + 1);
  const words = command.slice(command.findIndex(({ text }) => !text.startsWith('-')));
  return { scripts: words.length === 0 ? [] : [scriptOfAll(words, words)], by: starting, unknownOption };
}

/** The values of settings such as `alias.x=!rm` and `core.pager=less`, which may all be shell text. */
function configured(settings: InnerScript[]): InnerScript[] {
  return settings.map(({ text, last }) => ({ text: text.replace(/^[\w.-]+=/, '').replace(/^!/, ''), last }));
}

/** After an unknown option, each word without a dash may begin a command, after `program`, or be shell text. */
function guess(form: Wrapper, rest: ShellWord[], scripts: InnerScript[], program?: ShellWord): Contents {
  const places = rest.flatMap(({ text }, index) => (text.startsWith('-') ? [] : [index]));
  const tried = places.slice(0, maxGuesses).map((index) => rest.slice(index));
  const asText = form.runs !== 'words' && form.runs !== 'git';
  return {
    commands: asText ? [] : tried.map((words) => ({ words: program === undefined ? words : [program, ...words] })),
    scripts: asText
      ? [...scripts, ...tried.flatMap((words) => [scriptOfAll(words, words), scriptOf(words[0]!)])]
      : scripts,
    unknownOption: true,
    cut: places.length > maxGuesses,
  };
}

/** A program such as xargs appends words: `rm` may start as `rm {}`, so that a rule for `rm *` must see both. */
function appended(form: Wrapper, words: ShellWord[]): StartedCommand[] {
  if (words.length === 0) return [];
  return form.appends && !words.some(({ text }) => text.includes('{}'))
    ? [{ words }, { words: [...words, plainWord('{}')] }]
    : [{ words }];
}

/** Returns the words before the input sources, which are `a b` in `parallel rm ::: a b`. */
function beforeSources(words: ShellWord[]): ShellWord[] {
  const end = words.findIndex(({ text }) => text.startsWith(':::'));
  return end === -1 ? words : words.slice(0, end);
}

function joinWords(words: ShellWord[]): string {
  return words.map(({ text }) => text).join(' ');
}

function scriptOf(last: ShellWord): InnerScript {
  return { text: last.text, last };
}

/** Returns all words as one text. `own` are the wrapper's words; `words` may end in others, which were added. */
function scriptOfAll(words: ShellWord[], own: ShellWord[]): InnerScript {
  return { text: joinWords(words), first: words[0]!, last: words.findLast((word) => own.includes(word)) ?? words[0]! };
}
