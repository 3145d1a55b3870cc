/** Amounts of money in a call: their size, and whether the call moves them (docs/assessment.md). */
import { type ArgumentField, type CallView, type Finding, holdsWord, readingWords } from './finding.ts';
import type { Severity } from '../core/base/tool-call.ts';

/** The severity by the amount, in dollars, euros and the like. A row matches from `from` on; the last match counts. */
export const amountRows: readonly { from: number; severity: Severity; reason: string }[] = [
  { from: 0, severity: 'medium', reason: 'it moves money' },
  { from: 1_000, severity: 'high', reason: 'it moves an amount of 1,000 or more' },
  { from: 10_000, severity: 'critical', reason: 'it moves an amount of 10,000 or more' },
];

/** Roughly how many units of a currency make one dollar, in powers of ten. Each other currency counts as dollars. */
export const currencyScale: Readonly<Record<string, number>> = {
  JPY: 100,
  HUF: 100,
  INR: 10,
  PHP: 10,
  CLP: 100,
  KRW: 1_000,
  VND: 10_000,
  IDR: 10_000,
  XAU: 0.001,
  ETH: 0.001,
  BTC: 0.000_01,
};

const payingWords = new Set('pay payout wire refund withdraw purchase buy checkout remit donate disburse'.split(' '));
/** Words of tools that move money. All but `payingWords` need an amount, because a file can be transferred, too. */
const movingWords = new Set([...payingWords, 'transfer', 'charge', 'deposit']);
const moneyWords = new Set(
  'payment payments invoice invoices order orders billing trade sell bid tip payroll'.split(' '),
);
const amountWords = new Set('amount amounts price cost fee payment budget salary tip refund'.split(' '));
/** Arguments with these names are amounts only in a tool that handles money. */
const sumWords = new Set('total subtotal sum value'.split(' '));
const minorWords = new Set('cents cent minor pence'.split(' '));
const currencyWords = new Set('currency currencies'.split(' '));
const payeeWords = new Set('to recipient payee beneficiary'.split(' '));
const accountWords = new Set('to recipient iban account payee beneficiary destination wallet'.split(' '));

/** Assesses a call that moves or names money. An unreadable amount, or none in a payment, is rated `high`. */
export function assessMoney({ tool, fields, readsOnly }: CallView): Finding[] {
  const moves = holdsWord(tool, movingWords);
  if (readsOnly && (!moves || holdsWord(tool, readingWords))) return [];
  const isMoneyTool = moves || holdsWord(tool, moneyWords);
  const currencies = fields.filter(({ words }) => holdsWord(words, currencyWords));
  const amounts = fields.filter(
    ({ words, value }) =>
      typeof value !== 'boolean' &&
      (holdsWord(words, amountWords) || (isMoneyTool && holdsWord(words, sumWords))) &&
      !holdsWord(words, currencyWords),
  );
  if (!isMoneyTool && (currencies.length === 0 || amounts.length === 0)) return [];
  // Of several currencies, the most valuable counts, so that a weak one does not make an amount look small.
  const scale = currencies.length === 0 ? 1 : Math.min(...currencies.map(({ value }) => scaleOf(value)));
  const affected = fields
    .filter(({ words, value }) => typeof value === 'string' && holdsWord(words, accountWords))
    .map(({ words, value }) => `${holdsWord(words, payeeWords) ? 'payee' : 'account'}:${value}`);
  const base = { affected, ...(moves && { reversible: false }) };
  const unknown: Finding = { ...base, severity: 'high', reason: 'it moves an amount that cannot be read' };
  if (amounts.length === 0) return holdsWord(tool, payingWords) ? [unknown] : [];
  return amounts.map((field) => {
    const amount = amountOf(field);
    if (amount === undefined) return unknown;
    const row = amountRows.findLast(({ from }) => amount / scale >= from);
    return {
      ...base,
      severity: row?.severity ?? 'high',
      reason: row?.reason ?? 'it moves money',
      recommend:
        affected.length === 0
          ? 'Compare the amount with the document that it comes from.'
          : 'Compare the amount and the account with the document they come from.',
    };
  });
}

function scaleOf(currency: ArgumentField['value']): number {
  const code = String(currency).trim().toUpperCase();
  return Object.hasOwn(currencyScale, code) ? currencyScale[code]! : 1;
}

/** The amount in whole units, such as dollars, and without its sign; undefined if the value is not an amount. */
function amountOf({ value, words }: ArgumentField): number | undefined {
  const number = typeof value === 'number' ? value : readAmount(String(value));
  if (number === undefined || !Number.isFinite(number)) return undefined;
  return Math.abs(number) / (holdsWord(words, minorWords) ? 100 : 1);
}

/** Reads an amount without its sign: `1,234.50`, `1.234,50 €`, `USD 1'000`, `$-5`. Undefined for any other text. */
export function readAmount(text: string): number | undefined {
  if (text.length > 40) return undefined;
  const bare = text.trim().replace(/^[A-Za-z]{3}\b|\b[A-Za-z]{3}$|[$€£¥₩₹+\s'_-]/gu, '');
  if (!/^\d[\d.,]*$/.test(bare)) return undefined;
  const decimals = /[.,](\d+)$/.exec(bare)?.[1] ?? '';
  const separators = bare.match(/[.,]/g)?.length ?? 0;
  // Three digits after a separator may be thousands or decimals: take them for thousands, the larger amount.
  const isDecimal = decimals !== '' && decimals.length !== 3 && (decimals.length < 3 || separators === 1);
  const digits = isDecimal ? bare.slice(0, -decimals.length - 1) : bare;
  return Number(`${digits.replace(/[.,]/g, '')}${isDecimal ? `.${decimals}` : ''}`);
}
