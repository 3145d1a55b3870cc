/** The examples in docstrings run: what stands behind `// =>` is what the expression before it gives. */
import { readdirSync, readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import * as library from '../../src/index.ts';

const core = new URL('../../src/core/', import.meta.url);
const examples = readdirSync(core).flatMap((file) =>
  [...readFileSync(new URL(file, core), 'utf8').matchAll(/ \* @example\n(.*?) \*\/\n(?:export )?\w+ (\w+)/gs)].map(
    ([, text = '', name = '']) => [name, text.replaceAll(/^ \* ?/gm, '')] as const,
  ),
);

/** Runs the example in a realm of its own, with the library's names; gives pairs of what came out and what is written. */
function outcomes(text: string): [unknown, unknown][] {
  const checked = text.replaceAll(/^(.*?);? \/\/ => (.*)$/gm, 'pairs.push([($1), ($2)]);');
  const pairs: [unknown, unknown][] = [];
  runInNewContext(checked, { ...library, pairs });
  return pairs.map((pair) => JSON.parse(JSON.stringify(pair)) as [unknown, unknown]);
}

test('there are examples', () => {
  expect(examples.map(([name]) => name)).toEqual(
    expect.arrayContaining(['parsePolicy', 'formatProblems', 'compilePolicy', 'evaluate', 'explain', 'lintPolicy']),
  );
});

test.each(examples)('%s', (_, text) => {
  const pairs = outcomes(text);
  expect(pairs.length).toBeGreaterThan(0);
  for (const [actual, written] of pairs) expect(actual).toEqual(written);
});
