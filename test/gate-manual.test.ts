import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

/** The code in docs/gate.md, docs/deploy.md, docs/front-ends.md and README.md is that of the examples, which the tests run. */

const root = new URL('../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const manual = read('docs/gate.md');
const pages = [manual, read('README.md'), read('docs/deploy.md'), read('docs/front-ends.md')].join('\n');
const blocks = [...pages.matchAll(/^```tsx?\n\/\/ (\S+)\n(.*?)^```$/gms)].map(
  ([, file = '', code = '']) => [file, code] as const,
);

/** Without indentation: a block may be an excerpt from a deeper level. */
const flat = (text: string): string => text.replaceAll(/^ +/gm, '');

test('each block of code names its file', () => {
  expect(blocks).toHaveLength(manual.match(/^```ts$/gm)!.length + 1 + 3 + 1);
  const examples = new Set(['order', 'ai-sdk', 'openai-agents', 'upgrade', 'chat']);
  expect(new Set(blocks.map(([file]) => file.split('/')[1]))).toEqual(examples);
});

describe('a block matches its file', () => {
  test.each(blocks)('%s', (file, code) => {
    expect(flat(read(file))).toContain(flat(code));
  });
});

test('the overrides are among our own', () => {
  const [, written = ''] = /^```json\n(.*?)^```$/ms.exec(manual) ?? [];
  const { overrides } = JSON.parse(`{${written}}`) as { overrides: Record<string, string> };
  const own = JSON.parse(read('package.json')) as Record<'overrides' | 'devDependencies', Record<string, string>>;
  const names = Object.keys(overrides);
  expect(names.map((name) => own.overrides[name])).toEqual(names.map((name) => `$${name}`));
  expect(names.map((name) => own.devDependencies[name])).toEqual(names.map((name) => overrides[name]));
});
