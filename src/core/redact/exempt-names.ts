const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Names of arguments that say what a call does. Reviewers need these, so they are redacted only by name. */
const exemptNames = setOf(
  'command cmd commands script path paths file files filename filepath dir directory folder cwd ' +
    'amount amounts price total quantity sum currency',
);
/** Words that exempt every name that ends with them, such as `source_path` or `refundAmount`. */
const exemptLastWords = setOf('command path paths file filename dir directory folder amount price total');
/** Words that exempt every name that contains them, such as `recipient_iban`. */
const recipients = setOf(
  'to cc bcc recipient recipients receiver payee beneficiary destination guest guests ' +
    'attendee attendees invitee invitees',
);
/** Last words of names that say what a call acts on, such as `iban`, `customer_email` or `sql`. */
const actedOn = setOf('iban bic account email mail phone mobile address role user sql statement query url');
/** Words in names of texts that are run as code. */
const statements = setOf(
  'sql statement query code cypher expression where args argv arguments stdin source python javascript',
);

/**
 * True for a whole argument that says what a call acts on: a reviewer could not tell from a placeholder whose address
 * it is. False for members of an argument, which may describe other people.
 */
export function saysOnWhat(path: readonly (string | number)[]): boolean {
  const [name, ...members] = path;
  if (typeof name !== 'string' || members.some((each) => typeof each === 'string')) return false;
  const last = wordsOf(name).at(-1) ?? '';
  return [last, last.replace(/s$/, ''), last.replace(/es$/, '')].some((each) => actedOn.has(each));
}

/** True for a bank account at any depth: `iban`, `creditor.account`, `payments[0].accountNumber`. */
export function namesAccount(path: readonly (string | number)[]): boolean {
  const name = path.findLast((key) => typeof key === 'string') ?? '';
  return wordsOf(name).some((word) => word === 'iban' || word === 'account');
}

/** True for a text that is run as code, in which a part that looks like a secret may be code. */
export function isStatement(path: readonly (string | number)[]): boolean {
  const names = path.filter((key) => typeof key === 'string');
  return names.some((name) =>
    wordsOf(name).some((word) => statements.has(word) || statements.has(word.replace(/s$/, ''))),
  );
}

/** True if the value at `path` stays visible unless a policy lists its name. */
export function isExempt(path: readonly (string | number)[]): boolean {
  const names = path.filter((key) => typeof key === 'string');
  const last = wordsOf(names.at(-1) ?? '');
  return (
    exemptNames.has(last.join('')) ||
    exemptLastWords.has(last.at(-1) ?? '') ||
    names.some((name) => wordsOf(name).some((word) => recipients.has(word)))
  );
}

/** The words of a name: `to` and `address` for `toAddress` and `to_address`. */
function wordsOf(name: string): string[] {
  return name
    .slice(0, 200)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}
