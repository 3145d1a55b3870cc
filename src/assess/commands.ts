/** Assesses shell commands and program text (docs/assessment.md). Nothing is run or looked up. */
import { assessPath } from './files.ts';
import { assessStatements } from './statements.ts';
import { type CallView, tooLong, type Finding, holdsWord, isNamed, nameWords } from './finding.ts';
import { codeRows, commandRows, type CommandRow } from './command-rows.ts';
import { maxShellLength, notSplit, type ShellSplit, type Uncertainty } from '../core/shell/parts.ts';
import { splitShell } from '../shell/split.ts';

/** The longest text that is read, in UTF-16 code units. A longer one is rated `high`. */
export const longestCommand = 20_000;
const mostOperands = 200;

const shellTools = new Set('bash sh shell zsh terminal powershell pwsh cmd subprocess exec'.split(' '));
const commandFields = new Set('command commands cmd cmds commandline shell bash script scripts argv'.split(' '));
const codeFields = new Set('code script source program python javascript'.split(' '));
const interpreters = new Set(
  'sh bash zsh dash ksh fish python python3 node perl ruby php pwsh powershell iex'.split(' '),
);
/** The doubts about a split with which the command may run programs that are not among its parts. */
const unknowable = new Set<Uncertainty>([
  'too long',
  'parse error',
  'control character',
  'dynamic command name',
  'not split',
  'not the same in every shell',
]);
const downloaders = new Set('curl wget fetch iwr invoke-webrequest'.split(' '));
const databaseClients = new Set(
  'psql mysql mariadb sqlite3 mongosh mongo duckdb sqlcmd snowsql bq clickhouse'.split(' '),
);

/** True if the name of an argument says that its value is a command. */
export function namesCommand(argument: string): boolean {
  return isNamed(nameWords(argument), commandFields);
}

/** True if the name of a tool says that it runs commands. */
export function runsCommands(tool: string): boolean {
  const words = nameWords(tool);
  return holdsWord(words, shellTools) || isNamed(words, commandFields);
}

/** Assesses the commands in a call: arguments named for commands or, in a shell tool without any, all texts. */
export function assessCommands({ call, tool, fields }: CallView): Finding[] {
  const texts = fields.flatMap(({ value, ...field }) => (typeof value === 'string' ? [{ ...field, value }] : []));
  const named = texts.filter(
    ({ key, words }) => isNamed(words, commandFields) || (call.shell !== undefined && key === call.subject),
  );
  const commandTexts = named.length > 0 || !holdsWord(tool, shellTools) ? named : texts;
  // The items of a list may be the words of one command, so the joined list is assessed, too.
  const lists = [...Map.groupBy(commandTexts, ({ place }) => place).values()].filter(({ length }) => length > 1);
  const joined = lists.map((items) => items.map(({ value }) => value).join(' '));
  const lines = [...commandTexts.map(({ value }) => value), ...joined];
  // If the tool declares a shell command, the call has its parts already. The files that it writes to are in `lines`.
  const noFiles = { piped: false, writesTo: [], overwrites: [] };
  const parts = (call.shell?.parts ?? []).map(({ reduced }) => ({ words: reduced.split(' '), ...noFiles }));
  const splits = [call.shell ?? [], splitAll(lines)].flat();
  return [
    ...parts.flatMap(assessCommand),
    ...lines.flatMap(assessCommandText),
    ...(splits.some(isUnknown) ? [unknownCommand] : []),
    ...texts
      .filter(({ words }) => isNamed(words, codeFields))
      .flatMap(({ value, words }) => assessCode(value, words.includes('source'))),
  ];
}

/** Assesses a command line: its commands by the tables, and the dangers that only the whole line shows. */
export function assessCommandText(text: string): Finding[] {
  if (text.length > longestCommand) return [tooLong];
  const commands = commandWords(text);
  const starts = commands.map(({ words, piped }) => ({ words, programs: [...programsIn(words).keys()], piped }));
  const downloads = starts.filter(({ programs }) => holdsWord(programs, downloaders));
  const runsText = starts.some(({ programs }) => holdsWord(programs, interpreters) || programs.includes('eval'));
  const runsInput = starts.some(({ programs, piped }) => piped && holdsWord(programs, interpreters));
  const readsStatements = starts.some(({ programs, piped }) => piped && holdsWord(programs, databaseClients));
  const isForDatabase = starts.some(({ programs }) => holdsWord(programs, databaseClients));
  return [
    ...commands.flatMap(assessCommand),
    ...assessStatements(text, isForDatabase),
    ...(downloads.length > 0 && runsText
      ? [{ ...critical, reason: 'it runs what it downloads', affected: downloads.map(({ words }) => commandOf(words)) }]
      : []),
    ...(runsInput ? [runsWhatIsWritten] : []),
    ...(readsStatements ? [unknownCommand] : []),
    ...(/:\s{0,9}\(\s{0,9}\)\s{0,9}\{/.test(text) ? [{ ...critical, reason: 'it starts itself over and over' }] : []),
  ];
}

const critical = { severity: 'critical', reversible: false } as const;
const runsWhatIsWritten: Finding = {
  severity: 'high',
  reason: 'it runs what another command writes',
  reversible: false,
};
const unknownCommand: Finding = { severity: 'safe', reason: 'what the command runs is not known', reversible: false };

/** The plain name of a program. `{}` and `%` are no plain names, because programs such as xargs replace them. */
const nameOfProgram = /^(?:\[\[?|[\w./:@+~-]+)$/u;
const textFromElsewhere = new Set<Uncertainty>(['expansion', 'substitution', 'redirection from a file']);

/** Splits the texts. Those beyond a total of `maxShellLength`, the limit of one command, count as not split. */
function splitAll(texts: readonly string[]): ShellSplit[] {
  let length = 0;
  return texts.map((text) => {
    length += text.length;
    return length > maxShellLength ? notSplit : splitShell(text);
  });
}

/** True if the command may run a program that is chosen at run time, or text from a variable or a file, or code. */
function isUnknown({ parts, uncertain }: ShellSplit): boolean {
  if (uncertain.some((reason) => unknowable.has(reason))) return true;
  const outerParts = new Set(parts.map(({ within }) => within));
  return parts.some(({ reduced, wrapper, within }, index) => {
    // The parts inside this part are judged by themselves.
    if (outerParts.has(index)) return false;
    const isEmptyWrapper = wrapper !== undefined && (within === undefined || wrapper !== parts[within]?.wrapper);
    const [program = ''] = reduced.toLowerCase().split(' ', 1);
    // A wrapper without a known command may start any program, and so may a name that is not plain.
    if (isEmptyWrapper || !nameOfProgram.test(program)) return true;
    if (databaseClients.has(program)) return uncertain.some((reason) => textFromElsewhere.has(reason));
    // A name such as `python3.12` ends in the version.
    return interpreters.has(program.replace(/[\d.]{1,20}$/, ''));
  });
}

/** Returns the findings of the rows that match a command, and those about the files that its output is written to. */
function assessCommand({ words, writesTo, overwrites }: CommandWords): Finding[] {
  const findings: Finding[] = [];
  for (const [program, index] of programsIn(words)) {
    const rows = [
      ...(rowsByProgram.get(program) ?? []),
      ...rowsByPrefix.filter(([prefix]) => program.startsWith(prefix)).map(([, row]) => row),
    ];
    if (rows.length === 0) continue;
    const rest = words.slice(index + 1);
    for (const row of rows) {
      if ((row.with ?? []).every((group) => rest.some((word) => meets(word, group.split(' '))))) {
        findings.push(...findingsOf(row, words, operandsOf(program, rest)));
      }
    }
  }
  return [...findings, ...assessOutput(writesTo.filter(isFile), overwrites.filter(isFile))];
}

/** The findings about the files that a command's output is written to. `overwritten`: those that it replaces. */
function assessOutput(files: readonly string[], overwritten: readonly string[]): Finding[] {
  const findings: Finding[] = [];
  const lost = overwritten.map((path) => `file:${path}`);
  if (lost.length > 0) {
    findings.push({ severity: 'low', reason: 'it may overwrite files', affected: lost, reversible: false });
  }
  const affected = files.map((path) => `file:${path}`);
  if (files.some((path) => /^\/dev\/(sd|hd|vd|nvme|disk|mmcblk|mapper)/.test(path)))
    findings.push({ ...critical, reason: 'it overwrites a disk', affected });
  return [...findings, ...files.flatMap((path) => assessPath(path, 'changing'))];
}

function isFile(path: string): boolean {
  return !/^(\/dev\/(null|stdout|stderr|tty|fd\/\d)|\d)$/.test(path);
}

/** The conditions of `find` whose value names files. */
const namesFiles = /^-i?(?:name|path|wholename|regex)$/;

/** Returns the words after a program that may name files, without values such as the `+30` of `find . -mtime +30`. */
function operandsOf(program: string, rest: readonly string[]): string[] {
  const operands = (program === 'find' ? filesOfFind(rest) : rest).filter((word) => !word.startsWith('-'));
  return operands.slice(0, mostOperands);
}

/** After the options -H, -L, -P, -D and -O, `find` takes the places to search, then conditions and actions. */
function filesOfFind(rest: readonly string[]): string[] {
  const places = rest.findIndex((word) => !/^-[HLPDO]/.test(word));
  const first = Math.max(0, places);
  const conditions = rest.slice(first).findIndex((word) => word.startsWith('-') || word === '!');
  const end = conditions === -1 ? rest.length : first + conditions;
  return rest.filter((_, index) => (index >= first && index < end) || namesFiles.test(rest[index - 1] ?? ''));
}

function commandOf(words: readonly string[]): string {
  return `command:${words.join(' ')}`;
}

/** Returns the finding of a matching row and, if the row has `files`, those about the paths of the operands. */
function findingsOf(row: CommandRow, words: readonly string[], operands: readonly string[]): Finding[] {
  const { severity, reason, reversible, recommend, files } = row;
  const paths = files === undefined ? [] : operands;
  const own: Finding = {
    severity,
    reason,
    affected: paths.length > 0 ? paths.map((path) => `file:${path}`) : [commandOf(words)],
    reversible,
    recommend,
  };
  return files === undefined ? [own] : [own, ...paths.flatMap((path) => assessPath(path, files))];
}

/** True if a word matches one of the items; see `CommandRow.with`. */
function meets(word: string, items: readonly string[]): boolean {
  return items.some((item) => {
    if (/^-[A-Za-z]$/.test(item)) return /^-[A-Za-z0-9]/.test(word) && word.includes(item[1]!);
    if (item.endsWith('*')) return word.startsWith(item.slice(0, -1));
    return word === item || (item.startsWith('--') && word.startsWith(`${item}=`));
  });
}

const rowsByProgram = new Map<string, CommandRow[]>();
const rowsByPrefix: [prefix: string, row: CommandRow][] = [];
for (const row of commandRows) {
  for (const name of row.programs.split(' ')) {
    if (name.endsWith('*')) rowsByPrefix.push([name.slice(0, -1), row]);
    else rowsByProgram.set(name, [...(rowsByProgram.get(name) ?? []), row]);
  }
}

/** The finding for any program text, but not for an argument such as `source`, which may be a place instead. */
const unknownCode: Finding = { severity: 'safe', reason: 'what the code does is not known', reversible: false };

/** Assesses program text, which may also be or contain shell text. `mayBeOther`: the text may be no program at all. */
function assessCode(text: string, mayBeOther: boolean): Finding[] {
  if (text.length > longestCommand) return [tooLong];
  const plain = text.toLowerCase();
  const rows = codeRows.filter(({ texts }) => texts.some((part) => plain.includes(part)));
  const paths = [...text.matchAll(quotedPath)].slice(0, mostOperands).map(([, , path]) => path!);
  const affected = paths.map((path) => `file:${path}`);
  const use = rows.some(({ files }) => files) ? 'deleting' : 'reading';
  return [
    ...(mayBeOther ? [] : [unknownCode]),
    ...assessStatements(text, false),
    ...text
      .split('\n')
      .filter((line) => shellLine.test(line))
      .flatMap((line) => assessCommandText(line.replace(/^\s*[!%$]\s*/, ''))),
    ...rows.map(({ severity, reason, reversible, recommend, files }) => ({
      severity,
      reason,
      reversible,
      recommend,
      ...(files && { affected }),
    })),
    ...paths.flatMap((path) => assessPath(path, use)),
  ];
}

/** A text in quotes that begins as a path does. */
const quotedPath = /(['"`])((?:\/|~\/|\.\.?\/|[A-Za-z]:[\\/])[^'"`\n]{0,200})\1/g;
/** A line of words and operators of a shell, not of another language. */
const shellLine = /^\s*(?:[!%$]\s*)?[\w./~-]+(?:\s+[^()={}:,]+)+$/;

/** A command line cut into words for assessment. Without a parser, it finds too many commands rather than too few. */
interface CommandWords {
  /** The words of the command, without quotes, backslashes and redirections. */
  words: readonly string[];
  /** True if the command reads the output of the command before it. */
  piped: boolean;
  /** The files that `>` and `>>` write to. */
  writesTo: readonly string[];
  /** The files of `writesTo` whose content `>` replaces. */
  overwrites: readonly string[];
}

/** Cuts a text at `;`, `&`, `|`, brackets, backquotes and line breaks, even in quotes, as another shell might. */
export function commandWords(text: string): CommandWords[] {
  const plain = text
    .replace(/\$\{(\w{1,40})\}/g, '$$$1')
    .replace(/\\\n/g, ' ')
    .replace(/['"\\]/g, '');
  const commands: ReturnType<typeof emptyCommand>[] = [];
  let current = emptyCommand(false);
  // The operator, such as `>`, whose file is the next word; empty if there is none.
  let redirection = '';
  for (const token of plain.match(/[\n;&|(){}`]+|[<>]+|[^\s;&|(){}`<>]+/g) ?? []) {
    if (/^[<>]/.test(token)) {
      redirection = token;
    } else if (/^[\n;&|(){}`]/.test(token)) {
      // `>&2`, `>|` and the `{}` of find do not end a command.
      if (token === '{}' || (redirection !== '' && token.startsWith('&'))) continue;
      if (redirection === '>' && token === '|') continue;
      commands.push(current);
      current = emptyCommand(/^\|&?$/.test(token));
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

function emptyCommand(piped: boolean) {
  return { words: [] as string[], piped, writesTo: [] as string[], overwrites: [] as string[] };
}

/** Programs that start another program, which one of their words names. */
const wrappers = new Set(
  (
    'sudo doas su env command exec builtin nohup nice ionice time timeout xargs parallel watch setsid stdbuf busybox ' +
    'bash sh zsh dash ksh fish eval ssh chroot find if then else elif do while until ! npx uvx'
  ).split(' '),
);
const containerPrograms = new Set('docker podman nerdctl kubectl oc'.split(' '));

/**
 * Returns the programs that a command may start, each with the position of its word: the first word that is no
 * assignment and, if that word is a wrapper, every word after it. Names are in lower case, without path and `.exe`.
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
