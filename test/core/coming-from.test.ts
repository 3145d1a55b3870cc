/** The guides for those who come from elsewhere: their policies are read from the pages, and give the answers they say. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { compileAssessRules } from '../../src/core/assess-rule.ts';
import { assess } from '../../src/core/assess.ts';
import type { Mode } from '../../src/core/modes.ts';
import { formatProblems, parsePolicy } from '../../src/core/parse-policy.ts';
import { compilePolicy, evaluate, type RuledCall } from '../../src/core/ruling.ts';
import { splitShell } from '../../src/core/shell-split.ts';
import type { JsonObject, Risk } from '../../src/core/tool-call.ts';

const folder = new URL('../../docs/coming-from/', import.meta.url);
const guides = ['claude-code', 'lemurian', 'llm-do', 'opencode', 'promptise', 'rlm-code', 'rust-handler'];

type Row = Record<string, string>;

/** The rows of the table that follows a policy. */
function rowsOf(after: string): Row[] {
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
}

/** The policies of a page, and for each the calls below it. */
function examplesOf(guide: string): { source: string; rows: Row[] }[] {
  const page = readFileSync(new URL(`${guide}.md`, folder), 'utf8');
  return [...page.matchAll(/^```yaml\n(.*?)^```\n(.*?)(?=^```yaml|^#|(?![^]))/gms)].map(
    ([, source = '', after = '']) => ({
      source,
      rows: rowsOf(after),
    }),
  );
}

test('each guide is read', () => {
  expect(readdirSync(folder).sort()).toEqual(guides.map((guide) => `${guide}.md`));
});

describe.each(guides)('%s', (guide) => {
  const examples = examplesOf(guide);

  const rulings = examples.flatMap(({ source, rows }) => rows.map((row) => [row, source] as const));

  test('each policy has calls', () => {
    expect(examples.length).toBeGreaterThan(0);
    for (const { rows } of examples) expect(rows.length).toBeGreaterThan(0);
  });

  test.each(rulings)('%j', (row, source) => {
    const { tool = '', arguments: args = '', subject = '', risk, agent = '', mode = '', ...expected } = row;
    const parsed = parsePolicy(source, { unserved: 'accept' });
    if ('problems' in parsed) throw new Error(formatProblems(`${guide}.md`, parsed.problems));
    const [, name = '', shell] = /^(\w*)( \(shell\))?$/.exec(subject) ?? [];
    const call: RuledCall = { tool, args: JSON.parse(args) as JsonObject, risk: risk as Risk };
    if (name !== '') call.subject = name;
    if (shell !== undefined) call.shell = splitShell(call.args[name] as string);
    const policy = mode === '' ? parsed.policy : { ...parsed.policy, mode: mode as Mode };
    const assessment = assess(call, compileAssessRules({ run: policy }));
    const ruling = evaluate({ run: compilePolicy(policy, 'run') }, call, { agent, assessment });
    const answered: Row = {
      answer: ruling.action,
      by: ruling.rule ?? ruling.layer,
      severity: ruling.severity,
      reason: ruling.reason ?? '',
    };
    expect(Object.fromEntries(Object.keys(expected).map((key) => [key, answered[key]]))).toEqual(expected);
  });
});
