/**
 * Runs the examples in docstrings of functions that the package does not export: each expression must give the value
 * after `// =>`. Other examples are in fences; `test/api` runs them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';

const sources = new URL('../src/', import.meta.url);
const examples = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) =>
    [...readFileSync(new URL(file, sources), 'utf8').matchAll(/ \* @example\n(.*?) \*\/\n(?:export )?\w+ (\w+)/gs)].map(
      ([, text = '', name = '']) => [name, text.replaceAll(/^ \* ?/gm, ''), file] as const,
    ),
  )
  .filter(([, text]) => !text.includes('```'));

/**
 * Runs the example in a new realm with the names of its file. Returns pairs of the actual and the documented value.
 */
async function outcomes(text: string, file: string): Promise<[unknown, unknown][]> {
  const checked = text.replaceAll(/^(.*?);? \/\/ => (.*)$/gm, 'pairs.push([($1), ($2)]);');
  const pairs: [unknown, unknown][] = [];
  const own = (await import(new URL(file, sources).href)) as object;
  runInNewContext(checked, { ...own, pairs });
  return pairs.map((pair) => JSON.parse(JSON.stringify(pair)) as [unknown, unknown]);
}

test('there are examples', () => {
  expect(examples.map(([name]) => name)).toEqual(expect.arrayContaining(['isOneOf', 'messageIdOf', 'seatsOf']));
});

test.each(examples)('%s', async (_, text, file) => {
  const pairs = await outcomes(text, file);
  expect(pairs.length).toBeGreaterThan(0);
  for (const [actual, written] of pairs) expect(actual).toEqual(written);
});
