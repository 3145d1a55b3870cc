/**
 * The built-in patterns, in order: where two find the same text, the first one counts. Each is linear in the length of
 * the text: what follows a place where a match can begin has a bounded length, or ends only where no other match can
 * begin.
 */
import { isCard, isEmail, isIban, isPhone, isWrittenPassword } from './checks.ts';
import type { SensitiveKind } from './kinds.ts';
import { providerKeys } from './provider-keys.ts';

export interface Detector {
  kind: SensitiveKind;
  /** Global, and without named groups, which the bundler of workflow code rewrites. */
  expression: RegExp;
  /** True: the first group stands before what is sensitive, and stays. */
  hasPrefix?: true;
  /** Returns how many characters of a match are sensitive, from its start; 0: it is a false alarm. Default: all. */
  sensitiveLength?: (match: string, next: string) => number;
}

const whenever =
  (isSensitive: (match: string) => boolean) =>
  (match: string): number =>
    isSensitive(match) ? match.length : 0;

/** The ends of names whose values are secrets, as an expression. A `page_token` grants nothing. */
export const secretNames = String.raw`password|passwd|passphrase|secret|(?:secret|secret[_-]?access|private|api)[_-]?key|(?:access|auth|refresh|session)[_-]?token`;

export const detectors: readonly Detector[] = [
  {
    kind: 'PRIVATE_KEY',
    // Without its end, the rest of the text belongs to the key.
    expression: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^]*?(?:-----END [A-Z0-9 ]{0,60}-----|$)/g,
  },
  { kind: 'JWT', expression: /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/g },
  { kind: 'AWS_ACCESS_KEY', expression: /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g },
  { kind: 'PROVIDER_KEY', expression: /(?<![\w-])sk-(?:ant|or)-[\w-]{20,}/g },
  {
    kind: 'OPENAI_KEY',
    expression: /(?<![\w-])sk-[\w-]{20,}/g,
    // Words with hyphens have no capitals and digits among them.
    sensitiveLength: whenever((text) => /\d/.test(text) && /[A-Z]/.test(text)),
  },
  { kind: 'PROVIDER_KEY', expression: providerKeys },
  { kind: 'PROVIDER_KEY', hasPrefix: true, expression: /\b(Bearer\s{1,4})[\w.~+/-]{20,}={0,2}/gi },
  {
    kind: 'PROVIDER_KEY',
    hasPrefix: true,
    expression: /(\bAuthorization["']?\s{0,4}:\s{0,4}["']?(?:Basic|Token)\s{1,4})[\w.~+/-]{8,}={0,2}/gi,
  },
  {
    kind: 'PROVIDER_KEY',
    hasPrefix: true,
    expression:
      /(\b(?:aws_?secret_?access_?key|AccountKey|SharedAccessKey)["']?\s{0,4}[=:]\s{0,4}["']?)[A-Za-z0-9/+]{30,}={0,2}/gi,
  },
  // The user's part of a URL, also of a connection string. `?`, `#` and `\` end it: what stands before them is the host.
  { kind: 'PASSWORD', expression: /(?<=:\/\/[^\s/:@?#\\]{0,200}:)[^\s/?#\\]+(?=@)/g },
  {
    kind: 'PASSWORD',
    hasPrefix: true,
    // In JSON, up to the end of the text.
    expression: new RegExp(String.raw`((?:${secretNames})"\s{0,4}:\s{0,4}")(?=[^"])[^"\\]*(?:\\[^][^"\\]*)*`, 'gi'),
  },
  {
    kind: 'PASSWORD',
    hasPrefix: true,
    expression: new RegExp(
      String.raw`((?:${secretNames}|_pass|_pwd|\bpwd|(?<![\w-])token)(?:=|\s{0,4}:=\s{0,4}|\s{0,4}[=:]\s{0,4}(?=["'])))(?:"[^"]*"|'[^']*'|[^\s"&;,]+)`,
      'gi',
    ),
  },
  { kind: 'PASSWORD', hasPrefix: true, expression: /(--password(?:=|\s{1,4}))(?:"[^"]*"|'[^']*'|\S+)/gi },
  {
    kind: 'PASSWORD',
    hasPrefix: true,
    expression: /(\b(?:password|passwd|passphrase|api[ _-]?key)\s{0,3}(?::|\bis\b)\s{0,3})[^\s"',;]{6,200}/gi,
    sensitiveLength: whenever(isWrittenPassword),
  },
  {
    kind: 'CARD',
    // In one piece, or in groups of 4-4-4-4 or 4-6-5 digits.
    expression:
      /(?<![\w.-])(?:\d{14,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ -])\d{6}\2\d{4,5})(?![\w-]|\.\d)/g,
    sensitiveLength: whenever(isCard),
  },
  { kind: 'SSN', expression: /(?<![\w.-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-]|\.\d)/g },
  {
    kind: 'SSN',
    hasPrefix: true,
    expression:
      /(\b(?:SSN|social security(?: number)?)["']?\s{0,3}[:=#]?\s{0,3}["']?)(?!000|666|9)\d{3} ?\d{2} ?\d{4}(?!\w)/gi,
  },
  {
    kind: 'IBAN',
    expression: /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Za-z0-9]){11,31}/g,
    sensitiveLength: isIban,
  },
  {
    kind: 'EMAIL',
    // Not a literal: the bundler of workflow code writes out each \p{L} as 700 ranges.
    expression: new RegExp(
      String.raw`(?<![\p{L}\p{N}_.+%-]|://)[\p{L}\p{N}_][\p{L}\p{N}_.+%'-]{0,63}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}\p{L}{2,24}(?![\p{L}\p{N}_-])`,
      'gu',
    ),
    sensitiveLength: whenever(isEmail),
  },
  // With a country's code: +49 30 1234567, 0049 30 1234567.
  {
    kind: 'PHONE',
    expression: /(?<![\w.+-])(?:\+|(?<!\d )00(?=[1-9]\d?\d?[ .(/-]))[1-9](?:[ .()/-]{0,3}\d){6,14}(?![\w-]|[.,]\d)/g,
    sensitiveLength: whenever(isPhone),
  },
  // North America: (555) 123-4567, 555-123-4567, 1-555-123-4567.
  {
    kind: 'PHONE',
    expression:
      /(?<![\w.+-]|\d )(?:1[ .-])?(?:\([2-9]\d{2}\) ?\d{3}[ .-]\d{4}|(?:[2-9]\d{2}|123)([.-])\d{3}\1\d{4}|[2-9]\d{2} [2-9]\d{2} \d{4})(?![\w-]|[.,]\d)/g,
  },
  // Other countries, without the code: 020 7946 0958, 0171 1234567, 06 12 34 56 78.
  {
    kind: 'PHONE',
    expression:
      /(?<![\w.+-]|\d )(?:\(0[1-9]\d{1,3}\)|0[1-9]\d{1,3}|0[1-9](?= \d\d \d\d \d\d \d\d))(?:[ /-]\d{2,8}){1,4}(?![\w-]|[.,:]\d)/g,
    sensitiveLength: whenever(isPhone),
  },
  {
    kind: 'PHONE',
    hasPrefix: true,
    expression: /(\b(?:phone|tel|telephone|mobile|cell|fax)\b(?: number)?\s{0,2}[:=#]?\s{0,2})\d{7,15}(?![\w-]|\.\d)/gi,
  },
];
