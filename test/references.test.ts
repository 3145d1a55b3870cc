import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

/** References lead somewhere, and not out of the repository; no page has marks of invariants, no test digits that an id may hold. */

const root = join(import.meta.dirname, '..');
const files = execFileSync('git', ['ls-files', '*.ts', '*.md', '*.json', '*.yaml', '*.yml', '*.sh', '.ci/*'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && !file.startsWith('test/histories/') && !file.startsWith('test/references'));

const places = (wanted: RegExp, among: readonly string[]): string[] =>
  among.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => (wanted.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
  );

test('no reference to a section of a missing document', () => {
  expect(files.length).toBeGreaterThan(500);
  expect(
    places(/\b(?:design|contract|policy|house),? section \d|shared\/(?:seeds|research|design|house)/i, files),
  ).toEqual([]);
});

test('no mark of an invariant on a page for users', () => {
  const pages = files.filter((file) => /^(?:README|docs\/(?!decisions\/).*)\.md$/.test(file));
  expect(pages.length).toBeGreaterThan(10);
  expect(places(/\(I\d+[a-d]?\)/, pages)).toEqual([]);
});

test('no test expects a few hexadecimal digits to be absent: an id may hold them by chance', () => {
  const tests = files.filter((file) => /^test\/.*\.ts$/.test(file));
  expect(tests.length).toBeGreaterThan(500);
  expect(places(/\bnot\.(?:toContain|toMatch)\(['"`/][0-9a-f-]{1,7}['"`/]/, tests)).toEqual([]);
});

/** The text without blocks of code. */
const proseOf = (page: string): string => readFileSync(join(root, page), 'utf8').replaceAll(/^```[^]*?^```/gm, '');

/** The anchors of the headings of a page. */
function anchorsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/\]\([^)]*\)/g, '')
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

test('each link of a page leads to a file, and to a heading of it', () => {
  const pages = files.filter((file) => file.endsWith('.md'));
  const links = pages.flatMap((page) =>
    [...proseOf(page).matchAll(/\]\(([^)\s#]*)#?([^)\s]*)\)/g)]
      .map(([link, path = '', anchor = '']) => ({ page, link, path, anchor }))
      .filter(({ path }) => !/^\w+:/.test(path)),
  );
  expect(links.length).toBeGreaterThan(300);
  const broken = links.filter(({ page, path, anchor }) => {
    const target = path === '' ? page : normalize(join(dirname(page), path));
    // Made with the package, and compared by its test.
    if (target === 'docs/api.md') return false;
    if (!existsSync(join(root, target))) return true;
    return anchor !== '' && !anchorsOf(target).includes(anchor);
  });
  expect(broken.map(({ page, link }) => `${page} ${link}`)).toEqual([]);
});
