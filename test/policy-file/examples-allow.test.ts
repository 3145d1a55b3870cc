/** What pages, presets and examples allow: no value of another size, type or place than their rules say. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { argumentsRead } from '../../src/core/match/argument-reads.ts';
import { compilePolicy, evaluate, type RuledCall } from '../../src/core/policy/ruling.ts';
import type { Policy, Rule } from '../../src/core/policy/policy.ts';
import type { Json } from '../../src/core/base/tool-call.ts';
import { lintPolicy } from '../../src/policy-file/lint-policy.ts';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';
import { splitShell } from '../../src/shell/split.ts';
import { callOf, examplesOf, rowsOf, type Row } from '../support/policy-pages.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const pages = globSync(
  ['README.md', 'docs/**/*.md', 'packages/*/README.md', 'examples/*.md', 'test/fixtures/coming-from/*.md'],
  { cwd: root },
);
const files = globSync(['presets/*.yaml', 'examples/*/policy.yaml'], { cwd: root });

interface Example {
  place: string;
  policy: Policy;
  rows: Row[];
}

function exampleOf(place: string, source: string, rows: Row[] = []): Example[] {
  const parsed = parsePolicy(source, { ceiling: true });
  return 'policy' in parsed ? [{ place, policy: parsed.policy, rows }] : [];
}

const examples: Example[] = [
  ...pages.flatMap((page) =>
    examplesOf(read(page)).flatMap(({ source, after }) => exampleOf(page, source, rowsOf(after))),
  ),
  ...files.flatMap((file) => exampleOf(file, read(file))),
  // Rules in the code of pages, in comments and in the texts of commands.
  ...[...pages, ...globSync(['src/**/*.ts', 'packages/*/src/**/*.ts', 'examples/*/*.ts'], { cwd: root })].flatMap(
    (file) =>
      [...read(file).matchAll(/\{ [^{}]*?pattern: [^{}]*?(?:\{[^{}]*\}[^{}]*)*?action: '?\w+'?[^{}]*\}/g)].flatMap(
        ([rule]) => exampleOf(file, `rules: [${rule}]`),
      ),
  ),
];

/** The arguments by which a rule narrows what it allows. */
const narrowing = ({ args = {}, when }: Rule): string[] => [
  ...new Set([...Object.keys(args), ...(when === undefined ? [] : argumentsRead(when))]),
];
const ruling = ({ policy }: Example, call: RuledCall, agent = '') =>
  evaluate({ run: compilePolicy(policy, 'run') }, call, { agent });

test('examples are found on pages, in files and in comments', () => {
  expect(examples.length).toBeGreaterThan(60);
  const places = examples.map(({ place }) => place);
  expect(places).toEqual(
    expect.arrayContaining([
      'docs/policy.md',
      'docs/policy-reference.md',
      'docs/coming-from/lemurian.md',
      'presets/practical.yaml',
      'src/policy-file/evaluate.ts',
    ]),
  );
});

describe('rules that allow by a condition', () => {
  const rules = examples.flatMap((example) =>
    example.policy.rules
      .filter(({ action, when }) => action === 'allow' && when !== undefined)
      .map((rule) => [example.place, rule.when!, example, rule] as const),
  );
  const odd: Json[] = [-1, -5000, 0, '5', '', null, true, [], [5], ['a'], {}, { a: 5 }];
  test.each(rules)('%s: %s', (_, when, example, rule) => {
    const names = narrowing(rule);
    const allowed = odd.filter((value) => {
      const args = Object.fromEntries(names.map((name) => [name, value]));
      const call = { tool: rule.pattern.replaceAll('*', 'x').split(':')[0]!, args, risk: 'write' } as RuledCall;
      return ruling(example, call, rule.agent).action === 'allow';
    });
    // It says so.
    const isZero = /args\.\w+ >= 0 &&/.test(when);
    expect(allowed).toEqual(isZero ? [0] : []);
  });
});

describe('calls that a page allows by a rule about arguments', () => {
  const calls = examples.flatMap((example) =>
    example.rows.flatMap((row) => {
      const call = row.arguments?.startsWith('{') !== true ? undefined : callOf(row);
      if (call === undefined) return [];
      const sum = { sumOf: () => Number(row['sum before'] ?? 0) };
      const { action, rule } = evaluate({ run: compilePolicy(example.policy, 'run') }, call, {
        agent: row.agent ?? '',
        ...sum,
      });
      const found = compilePolicy(example.policy, 'run').rules.findIndex(({ id }) => id === rule);
      const by = example.policy.rules[found];
      if (action !== 'allow' || by === undefined) return [];
      const names = [
        ...narrowing(by),
        ...(/:.*[^*]/.test(by.pattern) && call.subject !== undefined ? [call.subject] : []),
      ];
      return names
        .filter((name) => Object.hasOwn(call.args, name))
        .map((name) => [example.place, row.tool, row.arguments, name, { example, call, by: rule }] as const);
    }),
  );

  test('there are some', () => expect(calls.length).toBeGreaterThan(20));

  test.each(calls)('%s: %s %s, by %s', (_place, _tool, _arguments, name, { example, call, by }) => {
    const own = call.args[name]!;
    const others: Json[] = [[own, 'evil'], ['evil', own], { a: own }, null, typeof own === 'number' ? String(own) : 5];
    if (typeof own === 'number') others.push(-own, -5000);
    const changed = [
      ...others.map((value) => ({ ...call.args, [name]: value })),
      // The value that the rule names, in another argument.
      { ...call.args, [name]: 'evil', note: own },
      { ...call.args, [name]: 'evil', [`a_${name}`]: own },
    ];
    const allowed = changed.filter((args) => {
      const subject = args[call.subject ?? ''];
      const shell =
        typeof subject === 'string' ? splitShell(subject) : { parts: [], uncertain: ['parse error' as const] };
      const made = { ...call, args, ...(call.shell && { shell }) };
      const { action, rule } = ruling(example, made);
      // A wider rule may allow it as well.
      return action === 'allow' && rule === by;
    });
    expect(allowed).toEqual([]);
  });
});

test('no example has a pattern or a condition that cannot do what it says', () => {
  const found = examples.flatMap(({ place, policy }) =>
    lintPolicy(policy, { of: 'ceiling' }).map(({ message }) => [place, message] as const),
  );
  const problem =
    /written|blank|quotes|begins with|JSON|character U|cannot be evaluated|orders|measures|reads|turns|calls .+ on|larger/;
  // A deny without a test of what it reads is right where the tool requires that.
  expect(found.filter(([, message]) => problem.test(message) && !message.includes('if such calls'))).toEqual([]);
});

test.each(examples)('$place: no step of an example comes when its requests have ended', ({ policy }) => {
  const late = lintPolicy(policy, { of: 'ceiling' }).filter(({ message }) =>
    /requests (have ended|end),/.test(message),
  );
  expect(late).toEqual([]);
});
