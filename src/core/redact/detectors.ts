/**
 * The built-in patterns. If two find the same text, the first in this order counts. Each takes linear time, because a
 * match that is tried reads a bounded length, or no further than where the next match can begin.
 */
import type { SensitiveKind } from './kinds.ts';

/** Keys and tokens in the format of a vendor. Most have a prefix, such as `ghp_` or `npm_`. */
const vendorKeyForms = [
  // GitHub, GitLab, Atlassian, Docker, npm, PyPI, RubyGems
  'gh[oprsu]_[A-Za-z0-9]{36,}',
  String.raw`github_pat_\w{22,}`,
  String.raw`gl(?:pat|ptt|dt|rt)-[\w-]{20,}`,
  String.raw`ATATT3[\w=-]{50,}`,
  String.raw`dckr_pat_[\w-]{20,}`,
  'npm_[A-Za-z0-9]{36}',
  String.raw`pypi-AgE[\w-]{50,}`,
  'rubygems_[0-9a-f]{48}',
  // Slack, Discord, Telegram, Twilio, SendGrid, Mailgun, Mailchimp
  String.raw`xox[abeoprs]-[\w-]{10,}`,
  String.raw`xapp-\d-[\w-]{20,}`,
  String.raw`\d{8,10}:AA[\w-]{32,35}`,
  'SK[0-9a-f]{32}',
  String.raw`SG\.[\w-]{16,32}\.[\w-]{16,64}`,
  'key-[0-9a-f]{32}',
  String.raw`[0-9a-f]{32}-us\d{1,2}`,
  // Google, Azure, DigitalOcean, Heroku, Fly, Netlify, Supabase, PlanetScale, Cloudflare
  String.raw`AIza[\w-]{35}`,
  String.raw`ya29\.[\w-]{20,}`,
  String.raw`GOCSPX-[\w-]{20,}`,
  'do[opr]_v1_[0-9a-f]{64}',
  String.raw`HRKU-[\w-]{30,}`,
  'FlyV1 fm[12]_[A-Za-z0-9+/=,]{20,}',
  'nfp_[A-Za-z0-9]{30,}',
  'sb[ps]_[0-9a-f]{40}',
  String.raw`pscale_(?:tkn|pw|oauth)_[\w.-]{20,}`,
  // Stripe, Square, Shopify, Adyen
  '[rs]k_(?:live|test)_[A-Za-z0-9]{10,}',
  'whsec_[A-Za-z0-9+/]{24,}',
  String.raw`sq0(?:atp|csp)-[\w-]{22,}`,
  'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}',
  // Models: Hugging Face, Groq, Replicate, xAI, Perplexity
  'hf_[A-Za-z0-9]{30,}',
  'gsk_[A-Za-z0-9]{40,}',
  'r8_[A-Za-z0-9]{30,}',
  'xai-[A-Za-z0-9]{40,}',
  'pplx-[A-Za-z0-9]{40,}',
  // Databricks, Vault, Terraform, Doppler, Linear, Notion, Postman, New Relic, Grafana, Sentry, age
  'dapi[0-9a-f]{32}',
  String.raw`hv[sb]\.[\w-]{20,}`,
  String.raw`[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}`,
  String.raw`dp\.(?:pt|st|ct)\.[A-Za-z0-9.]{40,}`,
  'lin_api_[A-Za-z0-9]{32,}',
  '(?:ntn|secret)_[A-Za-z0-9]{40,}',
  'PMAK-[0-9a-f]{24}-[0-9a-f]{34}',
  'NRAK-[A-Z0-9]{27}',
  String.raw`glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}`,
  String.raw`sntrys_[\w=-]{40,}`,
  'AGE-SECRET-KEY-1[A-Z0-9]{58}',
];

export const providerKeys = new RegExp(String.raw`(?<![\w-])(?:${vendorKeyForms.join('|')})(?![A-Za-z0-9])`, 'g');

/** The first digits and the lengths of the common card networks. */
const networks =
  /^(?:4\d{15}(?:\d{3})?|5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01])\d{13}|2720\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17})$/;

/** True for the number of a card: by the first digits of the networks, and by Luhn's check. */
export function isCard(text: string): boolean {
  const digits = text.replace(/[ -]/g, '');
  if (!networks.test(digits)) return false;
  // Every second digit, counted from the right, counts double.
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

/** The lengths of IBANs, by country: ISO 13616. */
const ibanLengths = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ' +
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 ' +
    'LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 ' +
    'PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((each) => [each.slice(0, 2), Number(each.slice(2))]),
);

/** The length of the IBAN that `match` begins with, blanks included; 0 for none. `next`: the character after it. */
export function isIban(match: string, next: string): number {
  const length = ibanLengths.get(match.slice(0, 2)) ?? 0;
  let [end, iban] = [0, ''];
  for (; end < match.length && iban.length < length; end++) if (match[end] !== ' ') iban += match[end]!;
  if (length === 0 || iban.length < length || /^[A-Za-z0-9]/.test(match.slice(end) || next)) return 0;
  // ISO 7064, mod 97-10: the first four characters last, each letter as a number from 10 to 35.
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1 ? end : 0;
}

/** False for the name of a picture, such as `icon@2x.png`, and for a git remote, such as `git@host.org`. */
export function isEmail(text: string): boolean {
  return !/@\dx\.\w+$/u.test(text) && !text.startsWith('git@');
}

/** True for 8 to 15 digits that are not a date, a time or a decimal number. */
export function isPhone(text: string): boolean {
  const digits = text.replace(/\D/g, '');
  if (digits.length < 8 || digits.length > 15) return false;
  if (/^\+\d+\.\d+$/.test(text)) return false;
  return text.startsWith('+') || digits.startsWith('00') || digits.length >= 9;
}

/** False for an ordinary word, as in `Password: unchanged`. */
export function isWrittenPassword(text: string): boolean {
  return /\d/.test(text) ? /[A-Za-z]|^\d{6,}$/.test(text) : /[A-Za-z][!@#$%^&*]+[A-Za-z]/.test(text);
}

export interface Detector {
  kind: SensitiveKind;
  /** Global, and without named groups, which the bundler of workflow code rewrites. */
  expression: RegExp;
  /** True: the first group is a prefix of the sensitive text. It is not replaced. */
  hasPrefix?: true;
  /** Returns how many characters at the start of a match are sensitive; 0 for a false alarm. Default: all. */
  sensitiveLength?: (match: string, next: string) => number;
}

const wholeIf =
  (isSensitive: (match: string) => boolean) =>
  (match: string): number =>
    isSensitive(match) ? match.length : 0;

/** Matches the ends of names whose values are secrets. `token` alone is left out: a `page_token` grants no access. */
export const secretNames = String.raw`password|passwd|passphrase|secret|(?:secret|secret[_-]?access|private|api)[_-]?key|(?:access|auth|refresh|session)[_-]?token`;

export const detectors: readonly Detector[] = [
  {
    kind: 'PRIVATE_KEY',
    // If the end line is missing, the rest of the text belongs to the key.
    expression: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^]*?(?:-----END [A-Z0-9 ]{0,60}-----|$)/g,
  },
  { kind: 'JWT', expression: /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/g },
  { kind: 'AWS_ACCESS_KEY', expression: /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g },
  { kind: 'PROVIDER_KEY', expression: /(?<![\w-])sk-(?:ant|or)-[\w-]{20,}/g },
  {
    kind: 'OPENAI_KEY',
    expression: /(?<![\w-])sk-[\w-]{20,}/g,
    // Ordinary words with hyphens have no capitals and digits.
    sensitiveLength: wholeIf((text) => /\d/.test(text) && /[A-Z]/.test(text)),
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
  // The password in a URL, also in a connection string. An `@` after `?`, `#` or `\` is behind the host.
  { kind: 'PASSWORD', expression: /(?<=:\/\/[^\s/:@?#\\]{0,200}:)[^\s/?#\\]+(?=@)/g },
  {
    kind: 'PASSWORD',
    hasPrefix: true,
    // In JSON: the value up to the end of its string.
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
    sensitiveLength: wholeIf(isWrittenPassword),
  },
  {
    kind: 'CARD',
    // A card number in one piece, or in groups of 4-4-4-4 or 4-6-5 digits.
    expression:
      /(?<![\w.-])(?:\d{14,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ -])\d{6}\2\d{4,5})(?![\w-]|\.\d)/g,
    sensitiveLength: wholeIf(isCard),
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
    // Made from a string, because the bundler of workflow code writes out each \p{L} as 700 ranges.
    expression: new RegExp(
      String.raw`(?<![\p{L}\p{N}_.+%-]|://)[\p{L}\p{N}_][\p{L}\p{N}_.+%'-]{0,63}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}\p{L}{2,24}(?![\p{L}\p{N}_-])`,
      'gu',
    ),
    sensitiveLength: wholeIf(isEmail),
  },
  // Numbers with the code of a country, such as +49 30 1234567 and 0049 30 1234567.
  {
    kind: 'PHONE',
    expression: /(?<![\w.+-])(?:\+|(?<!\d )00(?=[1-9]\d?\d?[ .(/-]))[1-9](?:[ .()/-]{0,3}\d){6,14}(?![\w-]|[.,]\d)/g,
    sensitiveLength: wholeIf(isPhone),
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
    sensitiveLength: wholeIf(isPhone),
  },
  {
    kind: 'PHONE',
    hasPrefix: true,
    expression: /(\b(?:phone|tel|telephone|mobile|cell|fax)\b(?: number)?\s{0,2}[:=#]?\s{0,2})\d{7,15}(?![\w-]|\.\d)/gi,
  },
];
