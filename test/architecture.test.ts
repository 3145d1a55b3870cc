import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

/** Every file, folder, test and symbol that ARCHITECTURE.md names exists. */

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| '));
const named = (pattern: RegExp, text = page): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, name]) => name!)),
];

/** Paths on the page start at the root or at src/. */
const pathOf = (file: string): string => [file, `src/${file}`].map((each) => join(root, each)).find(existsSync) ?? file;

const files = named(/`([\w./-]+\/[\w.-]+\.ts)`/g);
const steps = rows.flatMap((row) =>
  [...row.matchAll(/`([\w./-]+\/[\w.-]+\.ts)`((?:,? `#?[a-z]\w*`)+)/gi)].map(
    ([, file, symbols]) => [file!, symbols!] as const,
  ),
);
const rooms = named(
  /^\| `([\w./-]+)`(?:, `[\w-]+`)? +\|/gm,
  page.slice(page.indexOf('## Rooms'), page.indexOf('## How')),
);
const tests = rows
  .filter((row) => /^\| I\d/.test(row))
  .flatMap((row) => named(/`([\w/-]+)`/g, row.split('|')[4] ?? ''));

test('the page names files, folders, tests and symbols', () => {
  expect(files.length).toBeGreaterThan(40);
  expect(steps.length).toBeGreaterThan(30);
  expect(rooms.length).toBeGreaterThan(20);
  expect(tests.length).toBeGreaterThan(30);
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
const tables = ['src/core/assess/command-rows.ts'];

test('no source file has more than 300 lines, except tables', () => {
  const lengths = globSync(['src/**/*.ts', 'packages/*/src/**/*.ts'], { cwd: root }).map(
    (file) => [file, readFileSync(join(root, file), 'utf8').split('\n').length - 1] as const,
  );
  expect(lengths.length).toBeGreaterThan(300);
  expect(lengths.filter(([file, lines]) => lines > 300 && !tables.includes(file))).toEqual([]);
});
