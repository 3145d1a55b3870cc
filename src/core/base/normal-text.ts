/** Unicode's normal forms, in a time that is linear in the text. */

/**
 * Longest run of combining marks that is put in order. Unicode's own algorithm takes quadratic time for it: 1 MB in one
 * run took three minutes. Words need up to five.
 */
export const maxCombiningMarks = 100;

/** No character below U+0300 combines, or is changed by NFC. */
const mayChange = /[\u0300-\uffff]/;
// Not literals: the bundler of workflow code writes out each \p{M} as 300 ranges.
const marks = new RegExp(String.raw`\p{M}+`, 'gu');
/** With the two letters whose compatibility form is a mark. */
const compatibleMarks = new RegExp(String.raw`[\p{M}\uff9e\uff9f]+`, 'gu');

/** True if the text has more than `maxCombiningMarks` combining marks in a row. */
export function hasLongMarks(text: string, kind: RegExp = marks): boolean {
  if (!mayChange.test(text)) return false;
  for (const [run] of text.matchAll(kind)) if (run.length > maxCombiningMarks) return true;
  return false;
}

/** The text in NFC. One that `hasLongMarks` stays as it is: nobody writes such a name, so it equals only itself. */
export function nfc(text: string): string;
export function nfc(text: string | null | undefined): string | undefined;
export function nfc(text: string | null | undefined): string | undefined {
  if (text == null) return undefined;
  return !mayChange.test(text) || hasLongMarks(text) ? text : text.normalize('NFC');
}

/** As `nfc`, in the form of compatible characters (NFKC). */
export function nfkc(text: string): string {
  return hasLongMarks(text, compatibleMarks) ? text : text.normalize('NFKC');
}
