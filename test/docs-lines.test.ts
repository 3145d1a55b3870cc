import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { expect, test } from 'vitest';

/** The hand-written pages: no line is too long for an editor. */

const root = join(import.meta.dirname, '..');
const read = (page: string): string => readFileSync(join(root, page), 'utf8');
const pages = globSync(['docs/**/*.md', 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'], {
  cwd: root,
}).filter((page) => page !== 'docs/api.md');

interface Line {
  place: string;
  text: string;
}

/** The lines outside of blocks of code. */
function linesOf(page: string): Line[] {
  let isCode = false;
  return read(page)
    .split('\n')
    .flatMap((text, index) => {
      const isFence = text.trimStart().startsWith('```');
      if (isFence) isCode = !isCode;
      return isFence || isCode ? [] : [{ place: `${page}:${index + 1}`, text }];
    });
}

const isRow = (text: string): boolean => text.startsWith('|');
const longest = { line: 120, row: 220 };

test('the pages are found', () => {
  expect(pages.length).toBeGreaterThan(40);
  expect(pages.flatMap(linesOf).length).toBeGreaterThan(1_000);
});

test.each(pages)('%s: no line is too long', (page) => {
  const tooLong = linesOf(page).filter(({ text }) => text.length > (isRow(text) ? longest.row : longest.line));
  expect(tooLong.map(({ place, text }) => `${place} has ${text.length}`)).toEqual([]);
});
