/**
 * Characters that pass for others, such as the Cyrillic `а` of `pаypal.com`, or a full-width letter.
 *
 * Covered: words that mix scripts ("highly restrictive" in UTS 39); words of Cyrillic, Greek, Armenian or Lisu letters
 * that all look Latin; characters whose compatibility form is ASCII; a few Latin letters; signs that look like `/`,
 * `:`, `.` or `-` where these mean something. Not covered: ASCII that looks like ASCII (`rn` and `m`), and other
 * scripts.
 *
 * A word of one script that looks Latin, and the Turkish `ı`, may be genuine: `Сара`, `Yıldız`. Such a name deceives
 * only beside the name that it looks like, so names are compared with existing ones (`looksLike`).
 */
import { nfkc, perCharacter } from '../core/base/text.ts';

/** Letters, and at the same places in `to` the ASCII letters that they look like. */
const tables: readonly (readonly [from: string, to: string])[] = [
  // Cyrillic
  ['аеорсухіјѕԁԛԝһӏ', 'aeopcyxijsdqwhl'],
  ['АВЕКМНОРСТХІЈЅЗУԌԚԜҺӀ', 'ABEKMHOPCTXIJS3YGQWHI'],
  // Greek
  ['αονρυικτγωϲϳ', 'aovpuiktywcj'],
  ['ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ', 'ABEZHIKMNOPTYXCJ'],
  // Armenian
  ['օսոցհզքյ', 'ounghqfj'],
  ['ՕՍՏԼ', 'OUSL'],
  // Lisu
  ['ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ', 'BPDTGKJCZFMNLSRVHWXYAEIOU'],
];
/** Letters of the Latin script, and signs, that look like ASCII. */
const latinTable: readonly (readonly [from: string, to: string])[] = [
  ['ıȷɑɡɩʟɪʀɴʏʙʜᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢƖǀǃ', 'ijagilirnybhacdejkmoptuvwzll!'],
  ['⁄∕⧸╱', '////'],
  ['꞉ː∶׃։', ':::::'],
  ['ꓸ', '.'],
];
const dashes = '‐‑‒–—−⁃';
const ideographicStop = '。';

const lookOf = tableOf(tables);
const latinLookOf = tableOf(latinTable);

/** Maps each letter in `from` to the one at the same place in `to`. */
function tableOf(rows: readonly (readonly [from: string, to: string])[]): ReadonlyMap<string, string> {
  return new Map(
    rows.flatMap(([from, to]) => {
      const letters = Array.from(to);
      return Array.from(from, (letter, index): [string, string] => [letter, letters[index]!]);
    }),
  );
}

/** Superscripts, subscripts and signs that occur in ordinary texts. */
const everyday = /[ªº²³¹\u2070-\u209c™℠№…]/u;
const ascii = /^[!-~]+$/;
const onlyAscii = /^[\0-\x7f]*$/;
const word = /[\p{L}\p{M}\p{N}]+/gu;
const letter = /\p{L}/u;
const latin = /\p{Script=Latin}/u;
const turkish = /[şğİçöüŞĞÇÖÜ]/;
/** A part of a text that may be an address or another identifier: it has no blanks, quotes, brackets or commas. */
const token = /[^\s"“”()[\]{}<>,;]+/gu;
/** A word with its ending, as in `Yıldız'ın`. */
const inflected = /[\p{L}\p{M}\p{N}'’]+/gu;
/** Characters that occur within addresses and identifiers, but not within words. */
const inIdentifier = /[@/\\=_#&%$~|\p{N}]|[.:](?=[\p{L}\p{N}])/u;
/** A word that is written as a name, such as `Yılmaz`. */
const capitalised = /^[^\p{L}]*\p{Lu}[^\p{Lu}]*$/u;

/** The scripts that are distinguished. The letters of all other scripts count as one further script. */
const scripts: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['latin', latin],
  ['cyrillic', /\p{Script=Cyrillic}/u],
  ['greek', /\p{Script=Greek}/u],
  ['han', /\p{Script=Han}/u],
  ['hiragana', /\p{Script=Hiragana}/u],
  ['katakana', /\p{Script=Katakana}/u],
  ['bopomofo', /\p{Script=Bopomofo}/u],
  ['hangul', /\p{Script=Hangul}/u],
  ['arabic', /\p{Script=Arabic}/u],
  ['hebrew', /\p{Script=Hebrew}/u],
  ['armenian', /\p{Script=Armenian}/u],
  ['georgian', /\p{Script=Georgian}/u],
  ['devanagari', /\p{Script=Devanagari}/u],
  ['thai', /\p{Script=Thai}/u],
  ['common', /\p{Script=Common}|\p{Script=Inherited}/u],
];
/** Sets of scripts whose letters may occur together in one word. */
const together = [
  new Set(['latin', 'han', 'hiragana', 'katakana']),
  new Set(['latin', 'han', 'bopomofo']),
  new Set(['latin', 'han', 'hangul']),
];

function scriptOf(character: string): string {
  return scripts.find(([, pattern]) => pattern.test(character))?.[0] ?? 'other';
}

/** The properties of a character that do not depend on the text around it. */
interface Known {
  /** Where the character can be taken for an ASCII character. */
  passes: 'always' | 'never' | 'in identifiers' | 'before an option' | 'between letters';
  /** The script of a letter; undefined for any other character. */
  script: string | undefined;
  looksLatin: boolean;
}

function known(character: string): Known {
  const script = letter.test(character) ? scriptOf(character) : undefined;
  return { passes: passesForAscii(character), script, looksLatin: lookOf.has(character) };
}

/** Where a character can be taken for an ASCII one. */
function passesForAscii(character: string): Known['passes'] {
  if (character <= '\x7f') return 'never';
  if (character === 'ı') return 'in identifiers';
  if (latinLookOf.has(character)) return 'always';
  if (dashes.includes(character)) return 'before an option';
  if (character === ideographicStop) return 'between letters';
  return !everyday.test(character) && ascii.test(character.normalize('NFKC')) ? 'always' : 'never';
}

/**
 * Returns the offsets of look-alikes, in order and in UTF-16 units. `asName`: without the letters of a correctly
 * written name, because the caller compares such a name with the names that it looks like.
 */
export function lookAlikes(text: string, { asName = false }: { asName?: boolean } = {}): number[] {
  if (onlyAscii.test(text)) return [];
  const isFound = new Uint8Array(text.length);
  const knownOf = perCharacter(known);
  /** The scripts of letters that look like no Latin letter: the text is really written in these scripts. */
  const distinctScripts = new Set<string>();
  let index = 0;
  for (const character of text) {
    const { passes, script, looksLatin } = knownOf(character);
    if (passes !== 'never' && passesAt(passes, text, index)) isFound[index] = 1;
    if (script !== undefined && !looksLatin && character > '\x7f') distinctScripts.add(script);
    index += character.length;
  }
  if (!asName && !turkish.test(text)) for (const place of oddDotless(text)) isFound[place] = 1;
  for (const { 0: each, index: start } of text.matchAll(word)) {
    if (onlyAscii.test(each)) continue;
    const isOdd = oddLetters(each, knownOf, distinctScripts, asName);
    if (isOdd === undefined) continue;
    let place = start;
    for (const character of each) {
      const { script } = knownOf(character);
      if (script !== undefined && isOdd(script)) isFound[place] = 1;
      place += character.length;
    }
  }
  const places: number[] = [];
  for (let place = isFound.indexOf(1); place !== -1; place = isFound.indexOf(1, place + 1)) places.push(place);
  return places;
}

/** True if a character, one UTF-16 unit long, can be taken for an ASCII one at its place. `oddDotless` judges `ı`. */
function passesAt(passes: Known['passes'], text: string, index: number): boolean {
  const [before, after] = [text.slice(index - 1, index), text.slice(index + 1, index + 2)];
  switch (passes) {
    case 'always':
      return true;
    case 'never':
    case 'in identifiers':
      return false;
    case 'before an option':
      return /^\s?$/.test(before) && /^[a-z]|^[-‐‑‒–—−⁃]/i.test(after);
    case 'between letters':
      return /[a-z0-9]/i.test(before) && /^[a-z0-9]/i.test(after);
  }
}

/** Yields the place of each `ı`, except in words written as names. Only for a text without other Turkish letters. */
function* oddDotless(text: string): Generator<number> {
  if (!text.includes('ı')) return;
  for (const { 0: each, index: start } of text.matchAll(token)) {
    if (!each.includes('ı')) continue;
    const isIdentifier = inIdentifier.test(each);
    for (const { 0: part, index } of each.matchAll(inflected)) {
      if (!isIdentifier && capitalised.test(part)) continue;
      for (const { index: place } of part.matchAll(/ı/g)) yield start + index + place;
    }
  }
}

/** The most characters that `looksLike` converts: the compatible form of a single character may have eighteen. */
const longestLook = 10_000;

/** The text as it looks: in lower case, nothing invisible, look-alikes replaced. After 10,000 characters it stays. */
export function looksLike(text: string): string {
  const lookOfCharacter = perCharacter((character) => {
    if (/[\p{C}\p{Default_Ignorable_Code_Point}]/u.test(character)) return '';
    return lookOf.get(character) ?? latinLookOf.get(character) ?? (dashes.includes(character) ? '-' : character);
  });
  const look = Array.from(nfkc(text.slice(0, longestLook)), lookOfCharacter)
    .join('')
    .toLowerCase();
  return look + text.slice(longestLook);
}

/** A test for scripts that are odd in a word: foreign ones or, if all letters look Latin, all; undefined if none is. */
function oddLetters(
  text: string,
  knownOf: (character: string) => Known,
  distinctScripts: ReadonlySet<string>,
  asName: boolean,
): ((script: string) => boolean) | undefined {
  const used = new Set<string>();
  let allLookLatin = true;
  for (const character of text) {
    const { script, looksLatin } = knownOf(character);
    if (script === undefined) continue;
    used.add(script);
    allLookLatin &&= looksLatin && !distinctScripts.has(script);
  }
  const written = [...used].filter((script) => script !== 'common');
  if (written.length > 1 && !together.some((set) => written.every((script) => set.has(script)))) {
    // The word counts as Latin if it has a Latin letter, otherwise as written in the script of its first letter.
    const [first] = used;
    const own = used.has('latin') ? 'latin' : first;
    return (script) => script !== own && script !== 'common';
  }
  return allLookLatin && !asName ? () => true : undefined;
}
