/** Times as words of letters: digits look like telephone numbers, and the gateway holds these back. */

const first = 'a'.codePointAt(0)!;

export function lettersOf(ms: number): string {
  return Array.from(String(ms), (digit) => String.fromCodePoint(first + Number(digit))).join('');
}

/** The times in a text, or in a part of it that was cut at its beginning. */
export function writtenIn(text: string): number[] {
  const words = text.split(' ').filter((word) => /^[a-j]{13}$/.test(word));
  return words.map((word) => Number(Array.from(word, (letter) => letter.codePointAt(0)! - first).join('')));
}
