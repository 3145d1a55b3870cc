import type { CardField } from 'countersign/card';

/** Matches a masked bank account, such as `[IBAN DE89…3000 · 1a2b]`, of which the last four characters are readable. */
const masked = /\[IBAN [^\]\s]{0,4}…([A-Za-z\d]{4}) · [\da-f]{4}\]/g;
const plain = /\b[A-Z]{2}\d{2}(?: ?[A-Z\d]){11,30}\b/g;

/**
 * Says that the call has none of the bank accounts that a person named. It compares only the last four characters,
 * because accounts may be masked. Undefined if the ends of two accounts are equal, or if either side has no account.
 */
export function otherAccount(person: string, words: string, fields: readonly CardField[]): string | undefined {
  const named = endsIn(words);
  const called = new Set(fields.flatMap(({ value }) => [...endsIn(value.text)]));
  if (named.size === 0 || called.size === 0 || [...named].some((end) => called.has(end))) return undefined;
  return `${person} named ${accounts(named)}, and this call has ${accounts(called)}.`;
}

function accounts(ends: ReadonlySet<string>): string {
  const [first = '', ...others] = ends;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `an account that ends in ${first}${more}`;
}

function endsIn(text: string): Set<string> {
  const bounded = text.slice(0, longestText);
  const whole = [...bounded.matchAll(plain)].map(([found]) => found.replaceAll(' ', '').slice(-4));
  return new Set([...[...bounded.matchAll(masked)].map(([, end]) => end!), ...whole]);
}

const longestText = 20_000;
