import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

/** Every file, folder, test and symbol that ARCHITECTURE.md and docs/internals.md name exists. */

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
/** With each item of a list in one line. */
const unwrapped = (text: string): string => text.replaceAll(/\n {2,3}(?=\S)/g, ' ');
const written = read('ARCHITECTURE.md');
const map = unwrapped(written);
const page = `${map}\n${unwrapped(read('docs/internals.md'))}`;
const named = (pattern: RegExp, text = page): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, name]) => name!)),
];

/** Paths on the pages start at the root, at `src`, or with the name of a package in place of its `src`. */
const pathOf = (file: string): string =>
  [file, `src/${file}`, file.replace(/^(gateway|cli)\//, 'packages/$1/src/')]
    .map((path) => join(root, path))
    .find(existsSync) ?? file;

const files = named(/`([\w./-]+\/[\w.-]+\.(?:tsx?|md))`/g);
const steps = page
  .split('\n')
  .filter((line) => /^(?:\| |\d+\. )/.test(line))
  .flatMap((line) =>
    [...line.matchAll(/`([\w./-]+\/[\w.-]+\.ts)`((?:,? `#?[a-z]\w*`)+)/gi)].map(
      ([, file, symbols]) => [file!, symbols!] as const,
    ),
  );
const section = (title: string): string => map.split(/^## /m).find((each) => each.startsWith(`${title}\n`))!;
const rooms = section('Rooms')
  .split('\n')
  .filter((line) => line.startsWith('- '))
  .flatMap((line) => named(/`([\w./-]+)`/g, line.slice(0, line.indexOf(': '))));
const ways = section('How to add')
  .split(/^(?=\*\*)/m)
  .slice(1);
const tests = [...page.matchAll(/^- \*\*I\d.*$/gm)].flatMap(([item]) => named(/`([\w/-]+)`/g, item.split(';').at(-1)));

test('the pages name files, folders, tests and symbols', () => {
  expect(files.length).toBeGreaterThan(80);
  expect(steps.length).toBeGreaterThan(50);
  expect(rooms.length).toBeGreaterThan(40);
  expect(tests.length).toBeGreaterThan(30);
});

test('the map fits into 12 kB and says how to add six things', () => {
  expect(Buffer.byteLength(written)).toBeLessThan(12_000);
  expect(ways.map((each) => /^\*\*(.*?)\*\*/.exec(each)![1])).toEqual([
    'A channel',
    'A route',
    'A command',
    'A message',
    'A field of the list of requests',
    'A policy action',
  ]);
  for (const way of ways) expect(named(/`([\w./-]+\/[\w.-]+)`/g, way).length).toBeGreaterThan(3);
});

test('every folder with code is in a room of the map', () => {
  const folders = globSync('{src,packages/*/src}/**/*.{ts,tsx}', { cwd: root }).map((file) => dirname(file));
  const known = rooms.map((room) => pathOf(room).slice(root.length + 1));
  const unknown = folders.filter(
    (folder) => folder !== 'src' && !known.some((room) => folder === room || folder.startsWith(`${room}/`)),
  );
  expect([...new Set(unknown)].toSorted()).toEqual(
    ['packages/gateway/src', 'src/client', 'src/workflows', 'src/adapters'].toSorted(),
  );
});

test.each(files)('file %s', (file) => expect(existsSync(pathOf(file))).toBe(true));

test.each(rooms)('room %s', (room) => expect(existsSync(pathOf(room))).toBe(true));

test.each(tests)('the page names a test: %s', (name) =>
  expect(existsSync(join(root, 'test', `${name}.test.ts`))).toBe(true),
);

describe('a step names a symbol of its file', () => {
  test.each(steps)('%s:%s', (file, symbols) => {
    const code = readFileSync(pathOf(file), 'utf8');
    for (const symbol of named(/`(#?\w+)`/g, symbols))
      expect(code).toMatch(new RegExp(`(?:^|\\W)${symbol}\\b[ (:<]`, 'm'));
  });
});

/** Tables, which nobody reads from top to bottom. */
const tables = ['src/assess/command-rows.ts'];

test('no source file has more than 500 lines, except tables', () => {
  const lengths = globSync(['src/**/*.ts', 'packages/*/src/**/*.ts'], { cwd: root }).map(
    (file) => [file, readFileSync(join(root, file), 'utf8').split('\n').length - 1] as const,
  );
  expect(lengths.length).toBeGreaterThan(300);
  expect(lengths.filter(([file, lines]) => lines > 500 && !tables.includes(file))).toEqual([]);
});
