/** Everything in docs/policy.md and docs/policy-reference.md works: reads their examples from the pages and runs them. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { askTermsOf } from '../../src/core/policy/ask-terms.ts';
import { entitlement, tally, type Ballot, type Voter } from '../../src/core/people/entitlement.ts';
import { directoriesOf, panelOf } from '../../src/core/ledger/panel.ts';
import { formatProblems, parsePolicy } from '../../src/policy-file/parse-policy.ts';
import { policyJsonSchema } from '../../src/policy-file/json-schema.ts';
import { applyMode, modes, type Mode, actions, type Action } from '../../src/core/policy/modes.ts';
import { compilePolicy, evaluate, type RuledCall } from '../../src/core/policy/ruling.ts';
import { risks, severities } from '../../src/core/base/tool-call.ts';
import { callOf, examplesOf, type Row, rowsOf } from '../support/policy-pages.ts';

const read = (page: string): string => readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8');
const reference = read('policy-reference');

interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
}

const examples = [...examplesOf(read('policy')), ...examplesOf(reference)];

const calls = examples
  .filter(({ kind }) => kind === '')
  .flatMap(({ source, after }) => rowsOf(after).map((row) => [source, row] as const));

test('the manual has examples of every kind', () => {
  expect(calls.length).toBeGreaterThan(15);
  expect(new Set(examples.map(({ kind }) => kind))).toEqual(new Set(['', 'refused', 'ceiling', 'people']));
});

test('the reference names every key of a policy', () => {
  const keys = new Set<string>();
  const visit = (schema: Schema): void => {
    for (const [key, value] of Object.entries(schema.properties ?? {})) {
      keys.add(key);
      visit(value);
    }
    const { items, additionalProperties: values, anyOf = [] } = schema;
    for (const each of [items, values, ...anyOf]) if (typeof each === 'object') visit(each);
  };
  visit(policyJsonSchema());
  expect(keys.size).toBeGreaterThan(80);
  // Those of `assess` are in docs/assessment.md.
  const pages = [reference, read('policy'), read('assessment'), read('advisors')].join('\n');
  expect([...keys].filter((key) => !new RegExp(`\\b${key}\\b`).test(pages))).toEqual([]);
});

describe('answers', () => {
  test.each(calls)('%s %j', (source, row) => {
    const { agent = '', answer, by, reason } = row;
    const parsed = parsePolicy(source);
    if ('problems' in parsed) throw new Error(formatProblems('docs/policy.md', parsed.problems));
    const sum = Number(row['sum before'] ?? 0);
    const sumOf = () => (Number.isNaN(sum) ? undefined : sum);
    const ruling = evaluate({ run: compilePolicy(parsed.policy, 'run') }, callOf(row), { agent, sumOf });
    expect([ruling.action, ruling.rule ?? ruling.layer]).toEqual([answer, by]);
    if (reason !== undefined) expect(ruling.reason ?? '').toBe(reason);
  });
});

describe('who decides', () => {
  const tables = examples
    .filter(({ kind }) => kind === 'people')
    .flatMap(({ source, after }) => rowsOf(after).map((row) => [source, row] as const));

  test.each(tables)('%s %j', (source, { 'started by': caller = '', answers = '', result }) => {
    const parsed = parsePolicy(source);
    if ('problems' in parsed) throw new Error(formatProblems('docs/policy.md', parsed.problems));
    const { policy } = parsed;
    const call: RuledCall = { tool: policy.rules[0]!.pattern, args: {}, risk: 'write' };
    const terms = askTermsOf({ run: policy }, evaluate({ run: compilePolicy(policy, 'run') }, call), call);
    const request = { requestedAt: '2030-01-31T12:00:00Z', callerUserId: caller === '' ? null : caller };
    const panel = panelOf({ terms, delegations: [], request }, directoriesOf({ run: policy }), 0);
    const votes: Ballot[] = [];
    for (const answer of answers.split(', ')) {
      const [name = '', word] = answer.split(': ');
      const voter: Voter = name === 'nobody' ? { identity: 'anonymous' } : { reviewerId: name, identity: 'claimed' };
      const problem = entitlement(panel, voter, word === 'yes');
      if (problem !== undefined) return expect(problem.code).toBe(result);
      votes.push({ ...voter, approved: word === 'yes' });
    }
    const { outcome, have, need } = tally(panel, votes);
    expect(outcome ?? `waits (${have} of ${need})`).toBe(result);
  });
});

describe('the table of modes matches the code', () => {
  const table = rowsOf(/^## Modes\n(.*?)\n"Up to"/ms.exec(reference)![1]!);
  const columns = { 'a rule says allow': 'allow', 'a rule says ask': 'ask', 'no rule matches': 'none' } as const;
  const answersOf = (row: Row) => Object.keys(columns).map((column) => [column, row[column]!] as const);
  const rows = table.flatMap((row) =>
    row
      .mode!.split(', ')
      .flatMap((name) => answersOf(row).map(([column, cell]) => [name as Mode, column, cell] as const)),
  );
  const facts = [...risks, 'unknown' as const].flatMap((risk) =>
    severities.flatMap((severity) => [true, false].map((requiresApproval) => ({ risk, severity, requiresApproval }))),
  );

  test('each row is a different behaviour with a different name', () => {
    expect(Object.keys(table[0]!)).toEqual(['behaviour', 'mode', ...Object.keys(columns)]);
    expect(new Set(table.map((row) => JSON.stringify(answersOf(row)))).size).toBe(table.length);
    expect(new Set(table.map(({ behaviour }) => behaviour)).size).toBe(table.length);
    expect(table.every(({ behaviour = '' }) => behaviour !== '')).toBe(true);
  });

  test('it lists every mode once', () => {
    expect(table.flatMap(({ mode }) => mode!.split(', ')).toSorted()).toEqual([...modes].toSorted());
  });

  /** The meaning of a cell, parsed independently. */
  const meant = (
    cell: string,
    before: Action,
    { risk, severity, requiresApproval }: (typeof facts)[number],
  ): string => {
    const [first = '', rest = ''] = cell.split(', ');
    const upTo = /^up to (\w+) allow$/.exec(first)?.[1];
    const only = /^(read_only|write) (\w+)$/.exec(first);
    if (upTo !== undefined) {
      const within = severities.indexOf(severity) <= severities.indexOf(upTo as (typeof severities)[number]);
      return within ? 'allow' : rest.slice('else '.length);
    }
    if (only !== null) return risk === only[1] ? only[2]! : rest === 'else deny' ? 'deny' : before;
    if (first === 'ask if assessed so') return requiresApproval ? 'ask' : 'allow';
    if (first === 'risk default') return rest !== '' && before === 'ask' ? rest.slice('ask becomes '.length) : before;
    return first;
  };

  test.each(rows)('%s, %s: %s', (mode, column, cell) => {
    const by = columns[column as keyof typeof columns];
    for (const each of facts) {
      for (const before of by === 'none' ? actions : [by]) {
        expect([each, before, applyMode(mode, by, before, each).action]).toEqual([
          each,
          before,
          meant(cell, before, each),
        ]);
      }
    }
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
