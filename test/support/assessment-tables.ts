/** The tables of the built-in assessors, by heading, as docs/assessment.md shows them. */
import { commandRows, codeRows, statementRows } from '../../src/assess/command-rows.ts';
import { pathRows } from '../../src/assess/files.ts';
import { recipientRows, messageRows } from '../../src/assess/messages.ts';
import { amountRows, currencyScale } from '../../src/assess/money.ts';
import { methodRows, networkRows } from '../../src/assess/network.ts';
import { severityOf } from '../../src/core/assess/assessment.ts';

const code = (texts: readonly string[]): string => texts.map((text) => `\`${text}\``).join(' ');
const undone = (reversible: false | undefined): string => (reversible === false ? 'no' : '');

export const assessmentTables: Record<string, string[][]> = {
  'What the risk says': [
    ['risk', 'severity'],
    ...(['read_only', 'write', 'destructive', 'unknown'] as const).map((risk) => [risk, severityOf(risk)]),
  ],
  Files: [
    ['path', 'read', 'changed', 'deleted'],
    ...pathRows.map(({ what, reading = '', changing, deleting = changing }) => [what, reading, changing, deleting]),
  ],
  Commands: [
    ['programs', 'with', 'severity', 'reason', 'can be undone'],
    ...commandRows.map(({ programs, with: groups = [], severity, reason, reversible }) => [
      code(programs.split(' ')),
      groups.map((group) => code(group.split(' '))).join(' and '),
      severity,
      reason,
      undone(reversible),
    ]),
  ],
  Databases: [
    ['word', 'then', 'without', 'severity', 'reason', 'can be undone'],
    ...statementRows.map(({ first, next, without, severity, reason, reversible }) => [
      code([first]),
      next === undefined ? '' : code(next.split(' ')),
      without === undefined ? '' : code([without]),
      severity,
      reason,
      undone(reversible),
    ]),
  ],
  'Program text': [
    ['text', 'severity', 'reason', 'can be undone'],
    ...codeRows.map(({ texts, severity, reason, reversible }) => [code(texts), severity, reason, undone(reversible)]),
  ],
  Network: [
    ['address', 'fetched', 'sent to'],
    ...networkRows.map(({ what, fetching = '', sending }) => [what, fetching, sending]),
    ...methodRows.map(({ methods, severity }) => [`any, by ${code(methods)}`, '', severity]),
  ],
  Money: [
    ['amount from', 'severity'],
    ...amountRows.map(({ from, severity }) => [from.toLocaleString('en'), severity]),
  ],
  Currencies: [
    ['currency', 'an amount is divided by'],
    ...Object.entries(currencyScale).map(([currency, scale]) => [currency, String(scale)]),
  ],
  Messages: [
    ['what', 'severity'],
    ...recipientRows.map(({ from, severity }) => [from === 0 ? 'any message' : `${from} recipients or more`, severity]),
    ...messageRows.map(({ what, severity }) => [what, severity]),
  ],
};
