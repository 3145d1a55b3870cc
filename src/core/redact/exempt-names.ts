/** Arguments that say what a call does. A reviewer who cannot read them cannot decide, so they are redacted only on demand. */
const sayWhat = new Set([
  'command',
  'cmd',
  'commands',
  'script',
  'path',
  'paths',
  'file',
  'files',
  'filename',
  'filepath',
  'dir',
  'directory',
  'folder',
  'cwd',
  'amount',
  'amounts',
  'price',
  'total',
  'quantity',
  'sum',
  'currency',
]);
/** As the last word of a name as well, such as `source_path` or `refundAmount`. */
const lastWords = new Set([
  'command',
  'path',
  'paths',
  'file',
  'filename',
  'dir',
  'directory',
  'folder',
  'amount',
  'price',
  'total',
]);
/** As any word of a name, such as `recipient_iban`. */
const recipients = new Set([
  'to',
  'cc',
  'bcc',
  'recipient',
  'recipients',
  'receiver',
  'payee',
  'beneficiary',
  'destination',
]);

/** As the last word of an argument's name: whom or what a call acts on, such as `iban`, `customer_email` or `sql`. */
const actedOn = new Set([
  'iban',
  'bic',
  'account',
  'email',
  'mail',
  'phone',
  'mobile',
  'address',
  'role',
  'user',
  'sql',
  'statement',
  'query',
  'url',
]);

/**
 * True for a whole argument that says whom or what a call acts on. A placeholder tells two addresses apart, but it does not
 * say whose they are. Not for members of an argument, which may describe others.
 */
export function saysOnWhat(path: readonly (string | number)[]): boolean {
  const [name, ...members] = path;
  if (typeof name !== 'string' || members.some((each) => typeof each === 'string')) return false;
  const last = wordsOf(name).at(-1) ?? '';
  return [last, last.replace(/s$/, ''), last.replace(/es$/, '')].some((each) => actedOn.has(each));
}

const statements = new Set([
  'sql',
  'statement',
  'query',
  'code',
  'cypher',
  'expression',
  'where',
  'args',
  'argv',
  'arguments',
  'stdin',
  'source',
  'python',
  'javascript',
]);

/** True for a text that something runs: what looks like a secret there may be part of what it does. */
export function isStatement(path: readonly (string | number)[]): boolean {
  const names = path.filter((key) => typeof key === 'string');
  return names.some((name) =>
    wordsOf(name).some((word) => statements.has(word) || statements.has(word.replace(/s$/, ''))),
  );
}

/** True if what is at `path` is never redacted unless a policy names it. */
export function isExempt(path: readonly (string | number)[]): boolean {
  const names = path.filter((key) => typeof key === 'string');
  const last = wordsOf(names.at(-1) ?? '');
  return (
    sayWhat.has(last.join('')) ||
    lastWords.has(last.at(-1) ?? '') ||
    names.some((name) => wordsOf(name).some((word) => recipients.has(word)))
  );
}

/** `toAddress` and `to_address` have the words `to` and `address`. */
function wordsOf(name: string): string[] {
  return name
    .slice(0, 200)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}
