import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compilePolicy, evaluate } from '../../src/core/policy/ruling.ts';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';
import { callOf, examplesOf, rowsOf } from '../support/policy-pages.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'mcp.md'), 'utf8');

test("the page's policy rules as its table says", () => {
  const [{ source, after } = { source: '', after: '' }] = examplesOf(page);
  const parsed = parsePolicy(source, { ceiling: true });
  if ('problems' in parsed) throw new Error(parsed.problems[0]!.message);
  const layers = { ceiling: compilePolicy(parsed.policy, 'ceiling') };
  const rows = rowsOf(after);
  expect(rows.length).toBe(3);
  for (const row of rows) expect(evaluate(layers, callOf(row)).action).toBe(row['action']);
});
