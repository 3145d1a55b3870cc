/** The migration guides: reads their policies from the pages and checks the documented answers. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compileAssessRules } from '../../src/core/policy/assess-rules.ts';
import { assess } from '../../src/assess/assess.ts';
import type { Mode } from '../../src/core/policy/modes.ts';
import { formatProblems, parsePolicy } from '../../src/policy-file/parse-policy.ts';
import { compilePolicy, evaluate } from '../../src/core/policy/ruling.ts';
import { callOf, examplesOf, rowsOf, type Row } from '../support/policy-pages.ts';

const folder = new URL('../../docs/coming-from/', import.meta.url);
/** Further policies and calls in the form of the pages. */
const fixtures = new URL('../fixtures/coming-from/', import.meta.url);
const guides = ['claude-code', 'lemurian', 'llm-do', 'opencode', 'promptise', 'rlm-code', 'rust-handler'];

/** The columns that describe the call; the others hold the answers. */
const asked = ['tool', 'arguments', 'subject', 'risk', 'agent', 'mode'];

/** The policies of a page and of its fixture, each with the calls below it. */
const policiesOf = (guide: string): { source: string; rows: Row[] }[] =>
  [folder, fixtures].flatMap((where) =>
    examplesOf(readFileSync(new URL(`${guide}.md`, where), 'utf8')).map(({ source, after }) => ({
      source,
      rows: rowsOf(after),
    })),
  );

test('every guide is tested', () => {
  for (const each of [folder, fixtures]) expect(readdirSync(each).sort()).toEqual(guides.map((guide) => `${guide}.md`));
});

describe.each(guides)('%s', (guide) => {
  const examples = policiesOf(guide);

  const rulings = examples.flatMap(({ source, rows }) => rows.map((row) => [row, source] as const));

  test('each policy has calls', () => {
    expect(examples.length).toBeGreaterThan(0);
    for (const { rows } of examples) expect(rows.length).toBeGreaterThan(0);
  });

  test.each(rulings)('%j', (row, source) => {
    const { agent = '', mode = '' } = row;
    const parsed = parsePolicy(source);
    if ('problems' in parsed) throw new Error(formatProblems(`${guide}.md`, parsed.problems));
    const call = callOf(row);
    const policy = mode === '' ? parsed.policy : { ...parsed.policy, mode: mode as Mode };
    const assessment = assess(call, compileAssessRules({ run: policy }));
    const ruling = evaluate({ run: compilePolicy(policy, 'run') }, call, { agent, assessment });
    const answered: Row = {
      answer: ruling.action,
      by: ruling.rule ?? ruling.layer,
      severity: ruling.severity,
      reason: ruling.reason ?? '',
    };
    const expected = Object.entries(row).filter(([column]) => !asked.includes(column));
    expect(expected.map(([column]) => [column, answered[column]])).toEqual(expected);
  });
});
