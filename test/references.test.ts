import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Files must not contain references out of the repository, marks of invariants, or digits that an id may hold. */

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
