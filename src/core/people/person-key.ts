import { nfc } from '../base/text.ts';

/** Returns a person's key: the same text for all names of one person, and a different one for any other person. */
export type PersonKey = (name: string) => string;

// Made from strings, because the bundler of workflow code writes out each property as hundreds of ranges.
const unseen = new RegExp(String.raw`[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]+`, 'gu');

/**
 * Returns a name in NFC and small letters, without invisible characters, with single blanks. No key is shown. A name of
 * invisible characters only is its own key. Letters that are equal only as capitals (`ß` and `ss`, `ı` and `i`) stay
 * different: addresses that differ in them can belong to different people.
 *
 * @example
 * personKey('Ann@Acme.com') === personKey('ann@acme.com'); // => true
 */
export function personKey(name: string): string {
  if (plain.test(name)) return name;
  const seen = name.replaceAll(unseen, '').replaceAll(/\s+/gu, ' ').trim();
  // Sigma has another small form at the end of a word.
  const folded = nfc(nfc(seen).toLowerCase().replaceAll('ς', 'σ'));
  return folded === '' ? nfc(name) : folded;
}

/** A wider key: names are equal if their capital letters are. It serves prohibitions, which must hold in doubt. */
export function widely(key: string): string {
  return plain.test(key) ? key : nfc(key.toUpperCase().toLowerCase());
}

const plain = /^[!-@[-~]+$/;

/** True if both name the same person. An absent name is never the same. */
export function isSamePerson(
  one: string | null | undefined,
  other: string | null | undefined,
  keyOf: PersonKey = personKey,
): boolean {
  return one != null && other != null && keyOf(one) === keyOf(other);
}
