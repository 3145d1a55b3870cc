/** docs/policy.md says nothing that does not work: its examples are read from it and run. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { formatProblems, parsePolicy } from '../../src/core/parse-policy.ts';
import { compilePolicy, evaluate } from '../../src/core/ruling.ts';
import type { JsonObject, Risk } from '../../src/core/tool-call.ts';

const manual = readFileSync(new URL('../../docs/policy.md', import.meta.url), 'utf8');

/** A fenced block of YAML, and what follows it up to the next block or heading. */
interface Example {
  kind: string;
  source: string;
  after: string;
}

const examples: Example[] = [...manual.matchAll(/^```yaml *(\w*)\n(.*?)^```\n(.*?)(?=^```yaml|^#|(?![^]))/gms)].map(
  ([, kind = '', source = '', after = '']) => ({ kind, source, after }),
);
const rowsOf = (after: string): Record<string, string>[] => {
  const [head = [], , ...rows] = after
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
  return rows.map((row) => Object.fromEntries(head.map((name, index) => [name, row[index] ?? ''])));
};

const calls = examples
  .filter(({ kind }) => kind === '')
  .flatMap(({ source, after }) => rowsOf(after).map((row) => [source, row] as const));

test('the manual has examples of all kinds', () => {
  expect(calls.length).toBeGreaterThan(15);
  expect(new Set(examples.map(({ kind }) => kind))).toEqual(new Set(['', 'refused', 'ceiling']));
});

describe('answers', () => {
  test.each(calls)('%s %j', (source, { tool, arguments: args, subject, risk, answer, by }) => {
    const parsed = parsePolicy(source);
    if ('problems' in parsed) throw new Error(formatProblems('docs/policy.md', parsed.problems));
    const call = {
      tool: tool!,
      args: JSON.parse(args!) as JsonObject,
      risk: risk as Risk,
      ...(subject !== undefined && subject !== '' && { subject }),
    };
    const ruling = evaluate({ run: compilePolicy(parsed.policy, 'run') }, call);
    expect([ruling.action, ruling.rule ?? ruling.layer]).toEqual([answer, by]);
  });
});

describe('policies that load, and policies that do not', () => {
  test.each(examples.filter(({ kind }) => kind !== 'refused').map(({ kind, source }) => [source, kind]))(
    '%s',
    (source, kind) => {
      expect(parsePolicy(source, { ceiling: kind === 'ceiling' })).toHaveProperty('policy');
    },
  );

  test.each(examples.filter(({ kind }) => kind === 'refused').map(({ source, after }) => [source, after]))(
    'refused: %s',
    (source, after) => {
      const parsed = parsePolicy(source);
      const printed = /^```text\n(.*?)\n```$/ms.exec(after)?.[1];
      expect('problems' in parsed && formatProblems('policy.yaml', parsed.problems)).toBe(printed);
    },
  );
});
