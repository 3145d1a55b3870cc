/** What the built-in assessors know, by heading, as docs/assessment.md shows it. */
import { commandRows, codeRows, statementRows } from '../../src/assess/command-rows.ts';
import { pathRows } from '../../src/assess/files.ts';
import { recipientRows, messageRows } from '../../src/assess/messages.ts';
import { amountRows, currencyScale } from '../../src/assess/money.ts';
import { methodRows, networkRows } from '../../src/assess/network.ts';
import { severities, type Severity } from '../../src/core/base/tool-call.ts';
import { severityOf } from '../../src/core/assess/assessment.ts';

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

/** The items of the list under each heading. */
export const assessmentLists: Record<string, string[]> = {
  'What the risk says': (['read_only', 'write', 'destructive', 'unknown'] as const).map(
    (risk) => `${risk}: ${severityOf(risk)}`,
  ),
  Files: pathRows.map(({ what, reading = none, changing, deleting = changing }) =>
    [what, [reading, changing, deleting].join('/')].join(': '),
  ),
  Commands: bySeverity(commandRows, ({ programs, with: groups = [] }) =>
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
