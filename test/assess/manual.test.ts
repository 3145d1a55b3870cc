/** docs/assessment.md matches the data, and its example works. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compileAssessRules } from '../../src/core/policy/assess-rules.ts';
import { assess } from '../../src/assess/assess.ts';
import { assessmentBounds } from '../../src/core/assess/assessment.ts';
import { formatProblems, parsePolicy } from '../../src/policy-file/parse-policy.ts';
import type { JsonObject, Risk } from '../../src/core/base/tool-call.ts';
import { assessmentLists } from '../support/assessment-lists.ts';

const manual = readFileSync(new URL('../../docs/assessment.md', import.meta.url), 'utf8');

/** The cells of each table in a text; the first row is the header. */
const tablesIn = (text: string): string[][][] =>
  (text.match(/(^\|.*\n)+/gm) ?? []).map((table) =>
    table
      .trim()
      .split('\n')
      .filter((_, index) => index !== 1)
      .map((line) =>
        line
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim()),
      ),
  );
const section = (heading: string): string =>
  new RegExp(`^##+ ${heading}\\n(.*?)(?=^##|(?![^]))`, 'ms').exec(manual)?.[1] ?? '';

/** The items of the list in a text, each on one line. */
const itemsIn = (text: string): string[] =>
  [...text.matchAll(/^- (.*(?:\n {2}.*)*)/gm)].map(([, item = '']) => item.replaceAll(/\s+/g, ' '));

describe('the lists match the data', () => {
  test.each(Object.entries(assessmentLists))('%s', (heading, items) => {
    expect(items.length).toBeGreaterThan(1);
    expect(itemsIn(section(heading))).toEqual(items);
  });
});

describe('the example gives the documented answers', () => {
  const text = section('Rules of the policy');
  const [, source = ''] = /^```yaml\n(.*?)^```$/ms.exec(text) ?? [];
  const [, ...rows] = tablesIn(text)[0] ?? [];
  test.each(rows as [string, string, string, string][])('%s %s %s: %s', (tool, args, risk, severity) => {
    const parsed = parsePolicy(source);
    if ('problems' in parsed) throw new Error(formatProblems('docs/assessment.md', parsed.problems));
    const call = {
      tool: tool.replaceAll('`', ''),
      args: JSON.parse(args.replaceAll('`', '')) as JsonObject,
      risk: risk as Risk,
    };
    expect(assess(call, compileAssessRules({ ceiling: parsed.policy })).severity).toBe(severity);
  });
});

test('the opening example is an assessment', () => {
  const [, example = ''] = /^```json\n(.*?)^```$/ms.exec(manual) ?? [];
  expect(assess({ tool: 'delete_file', args: { path: 'build' }, risk: 'write' })).toEqual(JSON.parse(example));
});

test('the limits match the code', () => {
  const { reasons, affectedResources, recommendations, characters } = assessmentBounds;
  expect(manual.replaceAll(/\s+/g, ' ')).toContain(
    `At most ${reasons} reasons, ${affectedResources} resources and ${recommendations} recommendations are kept, of at most ${characters} characters each.`,
  );
});
