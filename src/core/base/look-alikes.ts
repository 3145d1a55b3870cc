/**
 * Finds characters that pass for others, such as the Cyrillic `а` of `pаypal.com`, or a full-width letter.
 *
 * Covered: words that mix scripts, by the "highly restrictive" level of UTS 39; words of Cyrillic, Greek, Armenian or
 * Lisu letters that all look like Latin ones; characters whose compatibility form is ASCII; a few Latin letters; signs
 * that look like `/`, `:`, `.` or `-` where these would mean something. Not covered: ASCII that looks like ASCII
 * (`rn` and `m`), and scripts outside of the table.
 */

/** From letters to the ASCII letters that they look like, in the same order. */
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

function tableOf(rows: readonly (readonly [from: string, to: string])[]): ReadonlyMap<string, string> {
  return new Map(
    rows.flatMap(([from, to]) => {
      const letters = Array.from(to);
      return Array.from(from, (letter, index): [string, string] => [letter, letters[index]!]);
    }),
  );
}

/** Superscripts, subscripts and signs of everyday prose. */
const everyday = /[ªº²³¹\u2070-\u209c™℠№…]/u;
const ascii = /^[!-~]+$/;
const onlyAscii = /^[\0-\x7f]*$/;
const word = /[\p{L}\p{M}\p{N}]+/gu;
const letter = /\p{L}/u;
const latin = /\p{Script=Latin}/u;
const turkish = /[şğİçöüŞĞÇÖÜ]/;

/** Scripts that have words of their own. Letters of all others count as one more. */
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
/** Scripts that are written in one word. */
const together = [
  new Set(['latin', 'han', 'hiragana', 'katakana']),
  new Set(['latin', 'han', 'bopomofo']),
  new Set(['latin', 'han', 'hangul']),
];

function scriptOf(character: string): string {
  return scripts.find(([, pattern]) => pattern.test(character))?.[0] ?? 'other';
}

/** Where the text has characters that pass for others: offsets in UTF-16 units. */
export function lookAlikes(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  if (onlyAscii.test(text)) return found;
  let index = 0;
  for (const character of text) {
    if (passesForAscii(character, text, index)) found.add(index);
    index += character.length;
  }
  const distinct = distinctScripts(text);
  for (const { 0: each, index: start } of text.matchAll(word)) {
    if (onlyAscii.test(each)) continue;
    for (const at of oddLetters(each, distinct)) found.add(start + at);
  }
  return found;
}

/** The text as it looks: with the characters that its look-alikes pass for, in lower case, without invisible ones. */
export function looksLike(text: string): string {
  let look = '';
  for (const character of text.normalize('NFKC')) {
    if (/[\p{C}\p{Default_Ignorable_Code_Point}]/u.test(character)) continue;
    look += lookOf.get(character) ?? latinLookOf.get(character) ?? (dashes.includes(character) ? '-' : character);
  }
  return look.toLowerCase();
}

function passesForAscii(character: string, text: string, index: number): boolean {
  if (character <= '\x7f') return false;
  if (character === 'ı') return !turkish.test(text);
  if (latinLookOf.has(character)) return true;
  const [before, after] = [text.slice(index - 1, index), text.slice(index + character.length, index + 2)];
  // A dash that begins an option of a command.
  if (dashes.includes(character)) return /^\s?$/.test(before) && /^[a-z]|^[-‐‑‒–—−⁃]/i.test(after);
  if (character === ideographicStop) return /[a-z0-9]/i.test(before) && /^[a-z0-9]/i.test(after);
  return !everyday.test(character) && ascii.test(character.normalize('NFKC'));
}

/** Scripts of which the text has a letter that looks like no Latin one: its words are really written in them. */
function distinctScripts(text: string): ReadonlySet<string> {
  const distinct = new Set<string>();
  for (const character of text) {
    if (character > '\x7f' && letter.test(character) && !lookOf.has(character)) distinct.add(scriptOf(character));
  }
  return distinct;
}

/** Offsets of the letters of a word that are not of its script, or that all pass for Latin ones. */
function oddLetters(text: string, distinct: ReadonlySet<string>): number[] {
  const letters: { at: number; character: string; script: string }[] = [];
  let at = 0;
  for (const character of text) {
    if (letter.test(character)) letters.push({ at, character, script: scriptOf(character) });
    at += character.length;
  }
  const used = new Set(letters.map(({ script }) => script).filter((script) => script !== 'common'));
  if (used.size > 1 && !together.some((set) => [...used].every((script) => set.has(script)))) {
    const own = used.has('latin') ? 'latin' : letters[0]!.script;
    return letters.filter(({ script }) => script !== own && script !== 'common').map(({ at }) => at);
  }
  const passes = letters.every(({ character, script }) => lookOf.has(character) && !distinct.has(script));
  return passes ? letters.map(({ at }) => at) : [];
}
