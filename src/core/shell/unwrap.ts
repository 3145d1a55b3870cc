import { isOption, readOptions } from './options.ts';
import { plainWord, type ShellWord } from './words.ts';
import { gitSubcommands, wrappers, type Wrapper } from './wrappers.ts';

/** The commands that a wrapper program starts. */
export interface Unwrapped {
  /**
   * The program as written, without its path, followed by its option or subcommand if only that makes it a wrapper:
   * `find -exec`, `git -c`. A pattern that is to allow what it runs has to hold all of it.
   */
  wrapper: string;
  commands: ShellWord[][];
  /** Shell text, to be split in turn. */
  scripts: string[];
  /** True: an option is unknown, and `commands` and `scripts` are every place where a command could begin. */
  unknownOption: boolean;
}

/** Maximum number of places tried after an unknown option. */
const maxGuesses = 16;

/** Finds what a command starts; undefined for an ordinary program. */
export function unwrap(words: readonly ShellWord[]): Unwrapped | undefined {
  const wrapper = lastSegment(words[0]!.text);
  const form = wrappers.get(tableName(wrapper));
  if (form === undefined) return undefined;
  const found = contentsOf(form, words.slice(1));
  if (found === undefined) return undefined;
  const { by, ...contents } = found;
  const name = by === undefined ? wrapper : `${wrapper} ${by}`;
  return { commands: [], scripts: [], unknownOption: false, ...contents, wrapper: name };
}

/** Without version number and `.exe`, in lower case: some file systems ignore case. */
function tableName(program: string): string {
  const name = program.toLowerCase().replace(/\.exe$/, '');
  return wrappers.has(name) ? name : withoutVersion(name);
}

/** `python` for `python3.12`. Not by an expression, which would begin anew at each digit of a long number. */
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

function contentsOf(form: Wrapper, args: ShellWord[]): Contents | undefined {
  if (form.runs === 'git') return contentsOfGit(form, args);
  if (form.unlessFile && isFileOrVersion(args)) return undefined;
  if (form.onlyWith !== undefined) return contentsWith(form, args);
  if (form.subcommands !== undefined) return contentsOfSubcommand(form, args);
  const { scripts, given, operands, unknownAt } = readOptions(form, args, form.runs === 'options');
  if (form.runs === 'code') return {};
  if (unknownAt !== undefined) return guess(form, args.slice(unknownAt), scripts);
  const rest = operands.slice(form.operands ?? 0);
  switch (form.runs) {
    case 'options':
      return { scripts };
    case 'shell':
      return given.has('c')
        ? { scripts: texts(operands.slice(0, 1)), by: args.find(({ text }) => /^-\w*c/.test(text))?.text ?? '-c' }
        : { scripts: [] };
    case 'first':
      return { scripts: texts(operands.slice(0, 1)) };
    case 'definitions':
      return { scripts: texts(operands).map((text) => text.slice(text.indexOf('=') + 1)) };
    case 'script':
      return { scripts: [...scripts, ...appended(form, beforeSources(rest)).map(joined)] };
    default:
      // `flock FILE -c TEXT`; and `env -S TEXT`, which puts its text before the other words.
      if (rest[0]?.text === '-c') return { scripts: [...scripts, ...texts(rest.slice(1, 2))] };
      if (scripts.length > 0) return { scripts: scripts.map((script) => joined([plainWord(script), ...rest])) };
      return { commands: appended(form, rest) };
  }
}

function isFileOrVersion(args: ShellWord[]): boolean {
  const [first] = args;
  if (first === undefined || first.wild) return false;
  return !first.text.startsWith('-') || (args.length === 1 && /^(--version|-V|--help)$/.test(first.text));
}

/** `find`, and programs that start others only with certain options. */
function contentsWith(form: Wrapper, args: ShellWord[]): Contents | undefined {
  const options = form.onlyWith!.split(' ');
  const [first, ...others] = args;
  const dashed = form.bundled && first && !first.text.startsWith('-') ? [plainWord(`-${first.text}`), ...others] : args;
  const starts = dashed.flatMap(({ text }, index) => (options.some((option) => isOption(text, option)) ? [index] : []));
  if (starts.length === 0) return args.some((word) => word.wild) ? {} : undefined;
  const by = dashed[starts[0]!]!.text.replace(/=.*$/s, '');
  if (form.runs === 'find') return { commands: starts.map((start) => upToEnd(args.slice(start + 1))), by };
  // With `tar xIf`, the values follow in the order of the letters.
  if (dashed !== args && starts[0] === 0) return { scripts: texts(others), by: first!.text };
  return { scripts: starts.flatMap((start) => optionValue(args, start)), by };
}

/** `uv run pytest`, `docker exec -it box rm`: if options follow, the command may begin at any word after them. */
function contentsOfSubcommand(form: Wrapper, args: ShellWord[]): Contents | undefined {
  const at = args.findIndex(({ text }) => form.subcommands!.split(' ').includes(text));
  if (at === -1) return undefined;
  const rest = args.slice(at + 1);
  const by = args[at]!.text;
  return rest[0]?.text.startsWith('-') ? { ...guess(form, rest, []), by } : { commands: [rest], by };
}

function upToEnd(words: ShellWord[]): ShellWord[] {
  const end = words.findIndex(({ text }, at) => text === ';' || (text === '+' && words[at - 1]?.text === '{}'));
  return end === -1 ? words : words.slice(0, end);
}

/** A possible value of an option: the text after its `=`, or the next word. tar has `--checkpoint-action=exec=TEXT`. */
function optionValue(args: ShellWord[], at: number): string[] {
  const own = args[at]!.text;
  if (own.includes('=')) return [own.slice(own.indexOf('=') + 1).replace(/^exec=/, '')];
  return texts(args.slice(at + 1, at + 2)).map((text) => text.replace(/^exec=/, ''));
}

function contentsOfGit(form: Wrapper, args: ShellWord[]): Contents | undefined {
  if (args.length === 1 && /^(-v|--version|--help)$/.test(args[0]!.text)) return undefined;
  const { scripts, operands, unknownAt } = readOptions(form, args, false);
  if (unknownAt !== undefined) return guess(form, args.slice(unknownAt), configured(scripts), plainWord('git'));
  const [subcommand, ...rest] = operands;
  const own = operands.length < args.length && subcommand !== undefined ? [[plainWord('git'), ...operands]] : [];
  const by = scripts.length > 0 ? { by: '-c' } : {};
  if (own.length > 0) return { scripts: configured(scripts), commands: own, ...by };
  if (args.length > 0 && subcommand === undefined) return { scripts: configured(scripts), ...by };
  const options = gitSubcommands.get(subcommand?.text ?? '')?.split(' ') ?? [];
  const starts = rest.flatMap(({ text }, at) => (options.some((option) => isOption(text, option)) ? [at] : []));
  if (starts.length === 0) return options.length > 0 && rest.some((word) => word.wild) ? {} : undefined;
  const starting = `${subcommand!.text} ${rest[starts[0]!]!.text.replace(/=.*$/s, '')}`;
  if (options[0]!.startsWith('-')) {
    return { scripts: configured(starts.flatMap((start) => optionValue(rest, start))), by: starting };
  }
  const command = rest.slice(starts[0]! + 1);
  return { scripts: [joined(command.slice(command.findIndex(({ text }) => !text.startsWith('-'))))], by: starting };
}

/** `alias.x=!rm`, `core.pager=less`: the value of any setting may be shell text. */
function configured(settings: string[]): string[] {
  return settings.map((setting) => setting.replace(/^[\w.-]+=/, '').replace(/^!/, ''));
}

/** After an unknown option, the command may begin at any word that is not an option. */
function guess(form: Wrapper, rest: ShellWord[], scripts: string[], program?: ShellWord): Contents {
  const places = rest.flatMap(({ text }, index) => (text.startsWith('-') ? [] : [rest.slice(index)]));
  const commands = places.slice(0, maxGuesses).map((words) => (program === undefined ? words : [program, ...words]));
  const asText = form.runs !== 'words' && form.runs !== 'git';
  return {
    commands: asText ? [] : commands,
    scripts: asText ? [...scripts, ...commands.flatMap((words) => [joined(words), words[0]!.text])] : scripts,
    unknownOption: true,
  };
}

/** More words are added at run time: a rule for `rm` and one for `rm *` both see it. */
function appended(form: Wrapper, words: ShellWord[]): ShellWord[][] {
  if (words.length === 0) return [];
  return form.appends && !words.some(({ text }) => text.includes('{}'))
    ? [words, [...words, plainWord('{}')]]
    : [words];
}

/** Drops the input sources: `parallel rm ::: a b`. */
function beforeSources(words: ShellWord[]): ShellWord[] {
  const end = words.findIndex(({ text }) => text.startsWith(':::'));
  return end === -1 ? words : words.slice(0, end);
}

function texts(words: ShellWord[]): string[] {
  return words.map(({ text }) => text);
}

function joined(words: ShellWord[]): string {
  return texts(words).join(' ');
}
