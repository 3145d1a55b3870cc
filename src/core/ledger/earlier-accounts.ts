/** Compares a call's bank accounts with those of earlier requests, because two accounts can share a placeholder. */
import { namesAccount } from '../redact/exempt-names.ts';
import { leavesOf, type Leaf, type Redaction } from '../redact/redaction.ts';
import type { JsonObject } from '../base/tool-call.ts';
import type { OutcomeName } from './approval.ts';
import { outcomesKept, type Ledger, type RequestRecord, type SettledRequest } from './ledger-state.ts';

/** An account that a call names, and the last earlier request of the run about the same account. */
export interface EarlierAccount {
  /** The argument, such as `iban` or `creditor.account`. */
  argument: string;
  /** Null: no earlier request of the run named this account, and no call of this tool ran without a request. */
  before: {
    requestId: string;
    outcome: OutcomeName;
    /** ISO 8601: when that request was settled. */
    at: string;
    reviewerId?: string;
    reviewerName?: string;
  } | null;
}

const mostAccounts = 10;

/**
 * Compares each account of a request with the requests that were settled before the question: `before` is the last of
 * those with the same account, or null if the account is new. An account is left out if neither is certain. Later
 * settlements do not count, because they would change a card that people are reading.
 */
export function earlierAccountsOf(ledger: Ledger, asked: RequestRecord): EarlierAccount[] {
  const accounts = accountsIn(asked.request.arguments, asked.redaction).slice(0, mostAccounts);
  if (accounts.length === 0) return [];
  // A request that an edit replaced is left out, because its call did not run, and the edited call has its own.
  const earlier = ledger.settled.filter(
    ({ settlement: { settledAt, by } }) => settledAt <= asked.request.requestedAt && by !== 'edit',
  );
  const known = earlier.map((request) => ({ request, accounts: settledAccounts(request) }));
  const isComplete = knowsAll(ledger, asked.request.toolName, earlier);
  return accounts.flatMap(({ argument, account, mask }): EarlierAccount[] => {
    const same = known.findLast((each) =>
      each.accounts.some((other) => other.account === account && other.mask === mask),
    );
    if (same !== undefined) return [{ argument, before: settlementOf(same.request) }];
    // A masked account is not compared with a shown one: to call both the same would reveal the masked one.
    const isRevealing = known.some((each) => each.accounts.some((other) => other.mask !== mask));
    return isComplete && !isRevealing ? [{ argument, before: null }] : [];
  });
}

function settlementOf({ request: { requestId }, settlement }: SettledRequest): EarlierAccount['before'] {
  const { outcome, settledAt: at, reviewerId, reviewerName } = settlement;
  const by = { ...(reviewerId !== undefined && { reviewerId }), ...(reviewerName !== undefined && { reviewerName }) };
  return { requestId, outcome, at, ...by };
}

interface Account {
  argument: string;
  account: string;
  /** How reviewers see the account: as a placeholder, or in full. */
  mask: 'masked' | 'shown';
}

function settledAccounts({ request, settlement: { edited }, redaction, editedRedaction, hidden }: SettledRequest) {
  if (hidden === true) return [];
  return edited === undefined
    ? accountsIn(request.arguments, redaction)
    : accountsIn(edited.arguments, editedRedaction ?? redaction);
}

function accountsIn(args: JsonObject, redaction: Redaction | undefined): Account[] {
  return leavesOf(args).flatMap(({ path, text }) => {
    if (text === '' || !namesAccount(path)) return [];
    const mask = maskOf({ path, text }, redaction);
    return mask === undefined ? [] : [{ argument: path.join('.'), account: plainAccount(text), mask }];
  });
}

/** How reviewers see an account. Undefined if a part of it is shown, or the placeholder fits other accounts, too. */
function maskOf(
  { path, text }: Pick<Leaf, 'path' | 'text'>,
  redaction: Redaction | undefined,
): Account['mask'] | undefined {
  const place = JSON.stringify(path);
  const spans = redaction?.values.find((each) => JSON.stringify(each.path) === place)?.spans ?? [];
  if (spans.length === 0) return 'shown';
  const [[start, end, placeholder]] = spans as [(typeof spans)[number]];
  const isWhole = spans.length === 1 && text.slice(start, end).trim() === text.trim();
  // Only a placeholder with ` · ` ends in a digest, and so stands for one value.
  return isWhole && placeholder.includes(' · ') ? 'masked' : undefined;
}

/** Returns the same text for all spellings of an IBAN; any other text stays as it is. */
function plainAccount(text: string): string {
  const plain = text.replace(/\s/g, '').toUpperCase();
  return /^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/.test(plain) ? plain : text;
}

/** True if the ledger lacks no earlier arguments (`kept` drops long ones), and each call of the tool had a request. */
function knowsAll({ past, outcomes }: Ledger, toolName: string, earlier: readonly SettledRequest[]): boolean {
  const isTrimmed = ({ request, settlement: { edited } }: SettledRequest): boolean =>
    Object.keys((edited ?? request).arguments).length === 0;
  return (
    past.length === 0 &&
    outcomes.length < outcomesKept &&
    !earlier.some((each) => each.hidden === true || isTrimmed(each)) &&
    !outcomes.some((each) => each.toolName === toolName && each.requestId === undefined && each.ran !== 'no')
  );
}
