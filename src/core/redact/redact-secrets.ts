import { redactText } from './find-sensitive.ts';
import { secretKinds } from './kinds.ts';

/**
 * The text without its secrets, for what leaves a run: keys, tokens, passwords, card numbers and US social security
 * numbers become placeholders such as `[JWT]`. What a reviewer has to read stays: amounts, paths, ids, addresses,
 * telephone and account numbers.
 */
export function redactSecrets(text: string): string {
  return redactText(text, secretKinds);
}

/** The longest end of a name that says what its value is. */
const longestEnd = 16;

/** True for the name of an argument whose whole value is a secret, such as `dbPassword`. */
export function namesSecret(name: string): boolean {
  return /(?:password|passwd|passphrase|secret|private_?key|api_?key|access_?token)$/i.test(name.slice(-longestEnd));
}
