import { secretNames } from './detectors.ts';
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
const longestEnd = 17;
/** Names that mean a secret only if nothing stands before them: a `page_token` grants no access. */
const wholeNames: ReadonlySet<string> = new Set(['token', 'otp', 'cookie', 'set-cookie']);

/** True for the name of an argument whose whole value is a secret, such as `dbPassword`. */
export function namesSecret(name: string): boolean {
  if (name.length <= longestEnd && wholeNames.has(name.toLowerCase())) return true;
  return secretName.test(name.slice(-longestEnd));
}

const secretName = new RegExp(`(?:${secretNames})$`, 'i');
