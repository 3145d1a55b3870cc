import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { describe, expect, test } from 'vitest';

/** The hand-written pages: no line is too long for an editor, and every link leads somewhere. */

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

/** As GitHub makes them of headings. */
function anchorsOf(page: string): string[] {
  const seen = new Map<string, number>();
  return linesOf(page).flatMap(({ text }) => {
    const [, heading] = /^#+ (.*)$/.exec(text) ?? [];
    if (heading === undefined) return [];
    const words = heading.replaceAll(/\[(.*?)\]\(.*?\)/g, '$1').toLowerCase();
    const anchor = words.replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return [count === 0 ? anchor : `${anchor}-${count}`];
  });
}

test('the pages are found', () => {
  expect(pages.length).toBeGreaterThan(40);
  expect(pages.flatMap(linesOf).length).toBeGreaterThan(1_000);
});

describe.each(pages)('%s', (page) => {
  test('no line is too long', () => {
    const tooLong = linesOf(page).filter(({ text }) => text.length > (isRow(text) ? longest.row : longest.line));
    expect(tooLong.map(({ place, text }) => `${place} has ${text.length}`)).toEqual([]);
  });

  test('every link leads to a file, and to a heading of it', () => {
    const links = [
      ...linesOf(page)
        .map(({ text }) => text)
        .join('\n')
        .matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/g),
    ];
    const broken = links.filter(([, path = '', anchor]) => {
      const target = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });
});
