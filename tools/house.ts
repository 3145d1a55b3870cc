/**
 * `npm run house`: how large the source is, room by room, and how it hangs together. `--json` for scripts, `--at COMMIT`
 * for an earlier state.
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const repository = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { json: { type: 'boolean', default: false }, at: { type: 'string' } } });
const root = values.at === undefined ? repository : checkedOut(values.at);

interface SourceFile {
  path: string;
  room: string;
  lines: number;
  importLines: number;
  /** Paths of the files of ours that it imports or exports from, types included. */
  imports: string[];
}

/** An entry of package-lock.json. */
interface Locked {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const smallLines = 40;
const paths = listed('src', 'packages/*/src').filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'));
const known = new Set(paths);
const files = paths.map(readSource);
const callers = new Map<string, number>();
for (const { imports } of files) for (const path of new Set(imports)) callers.set(path, (callers.get(path) ?? 0) + 1);

const rooms = [...Map.groupBy(files, ({ room }) => room)]
  .map(([room, own]) => ({ room, ...measured(own) }))
  .toSorted((one, other) => one.room.localeCompare(other.room));
const report = {
  rooms,
  all: measured(files),
  cycles: cyclesOf(files),
  words: {
    docs: wordsIn(listed('docs').filter((path) => !/decisions\/|\/api\.md$/.test(path))),
    decisions: wordsIn(listed('docs/decisions')),
  },
  testSupportLines: sum(
    listed('test/support')
      .filter(isText)
      .map((path) => linesOf(read(path)).length),
  ),
  install: installOf(JSON.parse(read('package.json')), JSON.parse(read('package-lock.json'))),
};
process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : textOf());
if (root !== repository) rmSync(root, { recursive: true });

/** A folder with the files of a commit. */
function checkedOut(commit: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'house-'));
  const archive = execFileSync('git', ['archive', commit], { cwd: repository, maxBuffer: 1_000_000_000 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  return folder;
}

function listed(...folders: string[]): string[] {
  return globSync(
    folders.map((folder) => `${folder}/**/*.*`),
    { cwd: root },
  ).toSorted();
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function isText(path: string): boolean {
  return /\.(tsx?|py|mjs)$/.test(path);
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}

function readSource(path: string): SourceFile {
  const text = read(path);
  const statements = [...text.matchAll(/^(?:import|export)\s[^;'"`]*?from\s+'([^']+)';|^import\s+'([^']+)';/gm)];
  const dynamic = [...text.matchAll(/\bimport\('([^']+)'\)/g)];
  const named = [...statements, ...dynamic].map(([, from, bare]) => from ?? bare ?? '');
  const imports = named.flatMap((name) => (name.startsWith('.') ? [join(dirname(path), name)] : []));
  const importLines = statements.filter(([statement]) => statement.startsWith('import'));
  return {
    path,
    room: roomOf(path),
    lines: linesOf(text).length,
    importLines: sum(importLines.map(([statement]) => statement.split('\n').length)),
    imports: imports.filter((each) => known.has(each)),
  };
}

/** Two folders below `src`, one below a package's; files beside the folders are entries. */
function roomOf(path: string): string {
  const folders = dirname(path).split('/');
  const isPackage = folders[0] === 'packages';
  const inside = folders.slice(isPackage ? 3 : 1, isPackage ? 4 : 3);
  const home = isPackage ? folders[1]! : '';
  return [home, ...(inside.length === 0 ? ['(entries)'] : inside)].filter(Boolean).join('/');
}

function measured(own: readonly SourceFile[]) {
  const sizes = own.map(({ lines }) => lines).toSorted((one, other) => one - other);
  const lines = sum(sizes);
  return {
    lines,
    files: own.length,
    median: sizes[Math.floor(sizes.length / 2)] ?? 0,
    mean: Math.round(lines / own.length),
    largest: sizes.at(-1) ?? 0,
    importPercent: Math.round((1_000 * sum(own.map(({ importLines }) => importLines))) / lines) / 10,
    small: sizes.filter((size) => size < smallLines).length,
    oneCaller: own.filter(({ path }) => callers.get(path) === 1).length,
  };
}

/** Groups of files that import one another, types included (Tarjan's algorithm). */
function cyclesOf(all: readonly SourceFile[]): string[][] {
  const importsOf = new Map(all.map(({ path, imports }) => [path, imports]));
  const found: string[][] = [];
  const numbers = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const visit = (path: string): void => {
    numbers.set(path, numbers.size);
    lowest.set(path, numbers.get(path)!);
    stack.push(path);
    for (const next of importsOf.get(path) ?? []) {
      if (!numbers.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(path, Math.min(lowest.get(path)!, lowest.get(next)!));
    }
    if (lowest.get(path) !== numbers.get(path)) return;
    const group = stack.splice(stack.indexOf(path));
    if (group.length > 1 || importsOf.get(path)!.includes(path)) found.push(group.toSorted());
  };
  for (const { path } of all) if (!numbers.has(path)) visit(path);
  return found;
}

/** What a worker installs beside the package itself and Temporal's packages, by the lock file. */
function installOf(
  { dependencies }: { dependencies: Record<string, string> },
  { packages }: { packages: Record<string, Locked> },
): { packages: number; bytes: number } {
  const own = new Set<string>();
  const visit = (from: string, name: string): void => {
    const parents = from.split('/node_modules/').map((_, index, all) => all.slice(0, index + 1).join('/node_modules/'));
    const folders = [...parents.toReversed().map((parent) => `${parent}/node_modules/`), 'node_modules/'];
    const path = folders.map((folder) => folder + name).find((each) => Object.hasOwn(packages, each));
    if (path === undefined || own.has(path)) return;
    own.add(path);
    const locked = packages[path]!;
    for (const next of Object.keys({ ...locked.dependencies, ...locked.optionalDependencies })) visit(path, next);
  };
  for (const name of Object.keys(dependencies)) if (!name.startsWith('@temporalio/')) visit('', name);
  return { packages: own.size, bytes: sum([...own].map(bytesIn)) };
}

function bytesIn(folder: string): number {
  const paths = globSync('**/*', { cwd: join(repository, folder), exclude: (path) => path.startsWith('node_modules') });
  return sum(
    paths.map((path) => statSync(join(repository, folder, path))).map((each) => (each.isFile() ? each.size : 0)),
  );
}

function wordsIn(pages: readonly string[]): number {
  const texts = pages.filter((path) => path.endsWith('.md')).map(read);
  return sum(texts.map((text) => (text.match(/\S+/g) ?? []).length));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function textOf(): string {
  const columns = ['lines', 'files', 'median', 'mean', 'largest', 'importPercent', 'small', 'oneCaller'] as const;
  const titles = ['lines', 'files', 'median', 'mean', 'largest', 'imports %', `< ${smallLines}`, 'one caller'];
  const width = Math.max(...rooms.map(({ room }) => room.length));
  const row = (name: string, cells: readonly (number | string)[]): string =>
    `${name.padEnd(width)}${cells.map((cell, index) => String(cell).padStart(titles[index]!.length + 2)).join('')}\n`;
  const cells = (each: ReturnType<typeof measured>): number[] => columns.map((column) => each[column]);
  const { words, cycles, testSupportLines, install } = report;
  return [
    row('room', titles),
    ...rooms.map((each) => row(each.room, cells(each))),
    row('all', cells(report.all)),
    `\nwords: ${words.docs} in docs (api.md left out), ${words.decisions} in decisions\n`,
    `test/support: ${testSupportLines} lines\n`,
    `install of a worker beside Temporal's packages and the package: ${install.packages} packages, ${(install.bytes / 1e6).toFixed(1)} MB\n`,
    `cycles of imports, types included: ${cycles.length}\n`,
    ...cycles.map((group) => `  ${group.join(' ')}\n`),
  ].join('');
}
