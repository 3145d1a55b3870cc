/** When two names are the name of one person or one group, however they are written. */
import { nfc } from '../base/text.ts';

/** Gives the same text for all names of one person, and another for those of others. */
export type PersonKey = (name: string) => string;

// Not literals: the bundler of workflow code writes out each property as hundreds of ranges.
const unseen = new RegExp(String.raw`[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]+`, 'gu');

/**
 * The form in which names are compared: Unicode NFC in small letters, without characters that nobody sees, and with single
 * blanks. It is never shown. A name of which nothing would be left is its own key. Letters stay apart that only capitals
 * make one, such as `ß` and `ss`, `ı` and `i`: an address with one of them can be another person's.
 *
 * @example
 * personKey('Ann@Acme.com') === personKey('ann@acme.com'); // => true
 */
export function personKey(name: string): string {
  if (plain.test(name)) return name;
  const seen = name.replaceAll(unseen, '').replaceAll(/\s+/gu, ' ').trim();
  // A sigma is written otherwise at the end of a word.
  const folded = nfc(nfc(seen).toLowerCase().replaceAll('ς', 'σ'));
  return folded === '' ? nfc(name) : folded;
}

/** A form in which also those names are one that only capitals make one: for what nobody may do who may be the same. */
export function widely(key: string): string {
  return plain.test(key) ? key : nfc(key.toUpperCase().toLowerCase());
}

/** A name that is its own key. */
const plain = /^[!-@[-~]+$/;

/** True if both name one person. Nobody has no name. */
export function isSamePerson(
  one: string | null | undefined,
  other: string | null | undefined,
  keyOf: PersonKey = personKey,
): boolean {
  return one != null && other != null && keyOf(one) === keyOf(other);
}
