/** docs/assessment.md matches the data, and its example works. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compileAssessRules } from '../../src/core/policy/assess-rules.ts';
import { assess } from '../../src/assess/assess.ts';
import { assessmentBounds, severityOf } from '../../src/core/assess/assessment.ts';
import { formatProblems, parsePolicy } from '../../src/policy-file/parse-policy.ts';
import { type JsonObject, type Risk, severities, type Severity } from '../../src/core/base/tool-call.ts';
import { commandRows, codeRows, statementRows } from '../../src/assess/command-rows.ts';
import { pathRows } from '../../src/assess/files.ts';
import { recipientRows, messageRows } from '../../src/assess/messages.ts';
import { amountRows, currencyScale } from '../../src/assess/money.ts';
import { methodRows, networkRows } from '../../src/assess/network.ts';

const code = (texts: readonly string[]): string => texts.map((text) => `\`${text}\``).join(' ');

/** That of the risk. */
const none = '–';

interface Assessed {
  severity: Severity;
  reversible?: false;
}

/** One line for each severity, the worst first, and for what cannot be undone; within it the order of the rows. */
function bySeverity<Row extends Assessed>(rows: readonly Row[], textOf: (row: Row) => string): string[] {
  return severities.toReversed().flatMap((severity) =>
    ([false, undefined] as const).flatMap((reversible) => {
      const found = rows.filter((row) => row.severity === severity && row.reversible === reversible);
      const label = `${severity}${reversible === false ? ', cannot be undone' : ''}`;
      return found.length === 0 ? [] : [`${label}: ${found.map(textOf).join('; ')}`];
    }),
  );
}

/** The page names these; the others are in the table of the code. */
const worstCommandRows = commandRows.filter(({ severity }) => severity === 'critical');

/** The items of the list under each heading. */
const assessmentLists: Record<string, string[]> = {
  'What the risk says': (['read_only', 'write', 'destructive', 'unknown'] as const).map(
    (risk) => `${risk}: ${severityOf(risk)}`,
  ),
  Files: pathRows.map(({ what, reading = none, changing, deleting = changing }) =>
    [what, [reading, changing, deleting].join('/')].join(': '),
  ),
  Commands: bySeverity(worstCommandRows, ({ programs, with: groups = [] }) =>
    [code(programs.split(' ')), groups.map((group) => code(group.split(' '))).join(' and ')]
      .filter((text) => text !== '')
      .join(' with '),
  ),
  Databases: bySeverity(statementRows, ({ first, next, without }) =>
    [
      code([first]),
      ...(next === undefined ? [] : [`then ${code(next.split(' '))}`]),
      ...(without === undefined ? [] : [`without ${code([without])}`]),
    ].join(' '),
  ),
  'Program text': bySeverity(codeRows, ({ texts }) => code(texts)),
  Network: [
    ...networkRows.map(({ what, fetching = none, sending }) => `${what}: ${fetching}/${sending}`),
    ...methodRows.map(({ methods, severity }) => `any, by ${code(methods)}: ${none}/${severity}`),
  ],
  Money: [
    ...amountRows.map(({ from, severity }) => `from ${from.toLocaleString('en')}: ${severity}`),
    `divided by ${Object.entries(currencyScale)
      .map(([currency, scale]) => `${scale} (${currency})`)
      .join(', ')}`,
  ],
  Messages: [
    ...recipientRows.map(
      ({ from, severity }) => `${from === 0 ? 'any message' : `${from} recipients or more`}: ${severity}`,
    ),
    ...messageRows.map(({ what, severity }) => `${what}: ${severity}`),
  ],
};

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
    expect(items).not.toEqual([]);
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
