/**
 * Finds joiners (U+200C, U+200D) that a word is written with, such as the half space of `علی‌رضا` or the conjunct of `ශ්‍රී`.
 *
 * Covered: the contexts of RFC 5892, A.1 and A.2, between letters of the scripts that need them, so that the joiner changes
 * how these are drawn: a non-joiner between Arabic letters that would join; either after a virama; and the forms that
 * Unicode gives for Bengali and Kannada (the joiner before the virama) and for final consonants of Malayalam. Anywhere
 * else nobody would see it.
 */
const marks = String.raw`\p{M}{0,6}`;

/** Arabic letters that join to the next one, and those that join only to the one before (`Joining_Type` of Unicode). */
const joinsNext = String.raw`\u0620\u0626\u0628\u062a-\u062e\u0633-\u063f\u0641-\u0647\u0649\u064a\u066e\u066f\u0678-\u0687\u069a-\u06bf\u06c1\u06c2\u06cc\u06ce\u06d0\u06d1\u06fa-\u06fc\u06ff`;
const joinsBefore = String.raw`\u0622-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0673\u0675-\u0677\u0688-\u0699\u06c0\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3\u06d5\u06ee\u06ef`;

const viramas: readonly (readonly [script: string, virama: string])[] = [
  ['Devanagari', '\u094d'],
  ['Bengali', '\u09cd'],
  ['Gurmukhi', '\u0a4d'],
  ['Gujarati', '\u0acd'],
  ['Oriya', '\u0b4d'],
  ['Telugu', '\u0c4d'],
  ['Kannada', '\u0ccd'],
  ['Malayalam', '\u0d4d'],
  ['Sinhala', '\u0dca'],
];

/** What stands before and behind a joiner that has just been read. */
const contexts = [
  String.raw`(?<=[${joinsNext}]${marks}\u200c)(?=${marks}[${joinsNext}${joinsBefore}])`,
  ...viramas.map(([script, virama]) => {
    const letter = String.raw`(?=\p{L})\p{Script=${script}}`;
    return String.raw`(?<=${letter}${marks}${virama}.)(?=${letter})`;
  }),
  String.raw`(?<=\u09b0\u200d)(?=\u09cd\u09af)`,
  String.raw`(?<=\u0cb0\u200d)(?=\u0ccd(?=\p{L})\p{Script=Kannada})`,
  String.raw`(?<=[\u0d15\u0d23\u0d28\u0d30\u0d32\u0d33]\u0d4d\u200d)`,
];
const inWord = new RegExp(String.raw`[\u200c\u200d](?:${contexts.join('|')})`, 'gu');
const joiner = /[\u200c\u200d]/;

/** The offsets, in UTF-16 units, of the joiners that belong to a word. */
export function wordJoiners(text: string): ReadonlySet<number> {
  if (!joiner.test(text)) return new Set();
  return new Set(Array.from(text.matchAll(inWord), ({ index }) => index));
}
