/**
 * Replaces secrets in text that leaves a run: keys, tokens, passwords, card numbers and US social security numbers. What
 * a reviewer has to read stays: amounts, paths, ids, addresses, telephone and account numbers. Every pattern is linear in
 * the length of the text.
 */

interface Pattern {
  expression: RegExp;
  /** The replacement, as `String.replace` reads it. */
  by: string;
  /** Says whether a match is a secret. Default: it is. */
  isSecret?: (match: string) => boolean;
}

const patterns: readonly Pattern[] = [
  {
    // Without its end, the rest of the text belongs to the key.
    expression: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^]*?(?:-----END [A-Z0-9 ]{0,60}-----|$)/g,
    by: '[PRIVATE_KEY]',
  },
  { expression: /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/g, by: '[JWT]' },
  { expression: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g, by: '[AWS_ACCESS_KEY]' },
  { expression: /(?<![\w-])sk-ant-[\w-]{20,}/g, by: '[PROVIDER_KEY]' },
  {
    expression: /(?<![\w-])sk-[\w-]{20,}/g,
    by: '[OPENAI_KEY]',
    // Words with hyphens have no capitals and digits among them.
    isSecret: (text) => /\d/.test(text) && /[A-Z]/.test(text),
  },
  {
    expression:
      /(?<![\w-])(?:gh[oprsu]_[A-Za-z0-9]{36,}|github_pat_\w{22,}|glpat-[\w-]{20,}|xox[abeoprs]-[\w-]{10,}|AIza[\w-]{35}|[rs]k_(?:live|test)_[A-Za-z0-9]{10,}|npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{30,})/g,
    by: '[PROVIDER_KEY]',
  },
  { expression: /\b(Bearer\s{1,4})[\w.~+/-]{20,}={0,2}/gi, by: '$1[PROVIDER_KEY]' },
  // The user's part of a URL.
  { expression: /(?<=:\/\/[^\s/:@]{0,200}:)[^\s/]+(?=@)/g, by: '[PASSWORD]' },
  {
    // In JSON, up to the end of the text.
    expression:
      /((?:password|passwd|passphrase|secret|secret_key|api_?key|access_?token)"\s{0,4}:\s{0,4}")(?:[^"\\]|\\.)+/gi,
    by: '$1[PASSWORD]',
  },
  {
    expression:
      /((?:password|passwd|passphrase|client_secret|secret_key|api_?key|access_?token)(?:=|\s{0,4}:=\s{0,4}))(?:"[^"]*"|'[^']*'|[^\s"&;,]+)/gi,
    by: '$1[PASSWORD]',
  },
  { expression: /(--password(?:=|\s{1,4}))(?:"[^"]*"|'[^']*'|\S+)/gi, by: '$1[PASSWORD]' },
  {
    // In one piece, or in groups of 4-4-4-4 or 4-6-5 digits.
    expression:
      /(?<![\w.-])(?:\d{14,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ -])\d{6}\2\d{5})(?![\w-]|\.\d)/g,
    by: '[CARD]',
    isSecret: (text) => isCard(text),
  },
  { expression: /(?<![\w.-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-]|\.\d)/g, by: '[SSN]' },
];

/** The text without its secrets, each replaced by a placeholder such as `[JWT]`. */
export function redactSecrets(text: string): string {
  let redacted = text;
  for (const { expression, by, isSecret } of patterns) {
    redacted =
      isSecret === undefined
        ? redacted.replace(expression, by)
        : redacted.replace(expression, (match) => (isSecret(match) ? by : match));
  }
  return redacted;
}

/** True for the name of an argument whose whole value is a secret, such as `dbPassword`. */
export function namesSecret(name: string): boolean {
  return /(?:password|passwd|passphrase|secret|private_?key|api_?key|access_?token)$/i.test(name);
}

/** The first digits and the lengths of the common card networks. */
const networks =
  /^(?:4\d{15}(?:\d{3})?|5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01])\d{13}|2720\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17})$/;

function isCard(text: string): boolean {
  const digits = text.replace(/[ -]/g, '');
  if (!networks.test(digits)) return false;
  // Luhn's check: from the right, every second digit counts double.
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}
