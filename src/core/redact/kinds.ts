import { shortDigest } from '../base/digest.ts';

/** The kinds of the built-in patterns. A kind is the name in its placeholder. */
export const sensitiveKinds = [
  'PRIVATE_KEY',
  'JWT',
  'AWS_ACCESS_KEY',
  'OPENAI_KEY',
  'PROVIDER_KEY',
  'PASSWORD',
  'CARD',
  'SSN',
  'IBAN',
  'EMAIL',
  'PHONE',
] as const;
/** Something secret or personal that is found by its form. */
export type SensitiveKind = (typeof sensitiveKinds)[number];

/** The kinds that are hidden wherever a text leaves a run. The others identify a person. */
export const secretKinds: readonly SensitiveKind[] = sensitiveKinds.slice(0, 8);

/** The kinds that identify what a call acts on. */
export const identifyingKinds: readonly string[] = ['IBAN', 'EMAIL', 'PHONE'];

export function placeholderOf(kind: string): string {
  return `[${kind}]`;
}

/** Replaces a whole text that would take too long to search, or of which too much would be hidden. */
export const tooMuch = placeholderOf('REDACTED');
/** A run carries the spans of its open requests. A text with more is replaced as a whole. */
export const mostSpans = 500;

/** How much of the end of a name `namedKind` reads. */
const longestEnd = 30;

/** Matches the value of an `Authorization` header. */
const credentials = /^(?:basic|bearer|digest|negotiate|token|api-?key)\s{1,4}\S/i;

/** The kind of a value that its form does not show, but the name of its argument does; else undefined. */
export function namedKind(argument: string, text: string): string | undefined {
  const name = argument.slice(-longestEnd);
  if (/authorization$/i.test(name) && credentials.test(text)) return 'PROVIDER_KEY';
  if (/(?:ssn|social_?security(?:_?number)?)$/i.test(name) && /^\d{9}$/.test(text)) return 'SSN';
  return /(?:phone|mobile|fax|(?<![a-z])tel)(?:_?number)?$/i.test(name) && /^\d{7,15}$/.test(text)
    ? 'PHONE'
    : undefined;
}

/** Matches kinds, and names of a policy's patterns, whose values grant access. */
const accessNames =
  /(?:KEY|TOKEN|SECRET|PASS(?:WORD|WD|PHRASE|CODE)?|PWD|PIN|OTP|AUTH|JWT|CREDENTIAL|COOKIE|SESSION)S?\d*(?:_|$)/;

/** True if values of this kind or pattern grant access, so that placeholders show no part of them. */
export function grantsAccess(name: string): boolean {
  return accessNames.test(name);
}

/**
 * A value's kind, its last characters, and four hex digits of its SHA-256, as in `[IBAN …3000 · 7f2a]`: the same for
 * all spellings of the value. The values of a policy's own patterns may be short, so no characters of them are shown.
 */
export function valuePlaceholder(name: string, value: string): string {
  if (grantsAccess(name)) return placeholderOf(name);
  if (!sensitiveKinds.includes(name as SensitiveKind)) return `[${name} · ${shortDigest(value)}]`;
  const plain = name === 'EMAIL' ? value.toLowerCase() : value.replace(/[\s()./-]/g, '').toUpperCase();
  // Shows no characters of a value of up to 9, and never more than a quarter of a value.
  const most = Math.max(0, Math.min(4, Math.floor((plain.length - 8) / 2)));
  const [last = ''] = /[A-Za-z\d]*$/.exec(plain.slice(plain.length - most)) ?? [];
  return `[${name}${last === '' ? '' : ` …${last}`} · ${shortDigest(plain)}]`;
}

/** The placeholder of a bank account with its country and check digits, to be compared with a document. */
export function accountPlaceholder(value: string): string {
  const plain = value.replace(/\s/g, '').toUpperCase();
  return valuePlaceholder('IBAN', value).replace('[IBAN ', `[IBAN ${plain.slice(0, 4)}`);
}

/** The placeholder with its kind alone: `[IBAN]`. */
export function withoutDigest(placeholder: string): string {
  return placeholder.replace(/ .*/, ']');
}

/** Matches placeholders, even if an edit changed their digits: built-in kinds, patterns `names`, and `more`. */
export function placeholdersNamed(names: readonly string[], more: readonly string[]): RegExp {
  const all = [...sensitiveKinds.map(placeholderOf), tooMuch, ...names.map(placeholderOf), ...more.map(withoutDigest)];
  const kinds = new Set(all.map((each) => each.slice(1, -1).replace(/\W/g, String.raw`\$&`)));
  return new RegExp(String.raw`\[(?:${[...kinds].join('|')})(?: (?:[A-Z]{2}\d{2})?[…·][^[\]\n]{0,20})?\]`, 'g');
}
