/** Up to this length, the engine's own search is fast whatever the text holds. */
const shortLength = 16;

/**
 * Finds one word in texts. Takes time proportional to the lengths: `indexOf` takes that of their product where a long word and
 * a text repeat themselves. So `indexOf` looks for the beginning of a long word, and Knuth, Morris and Pratt go on from there.
 */
export class TextSearch {
  readonly word: string;
  /** For each prefix of the word, the longest shorter one that it also ends with. Made when it is needed. */
  #shorter: Uint32Array | undefined;

  constructor(word: string) {
    this.word = word;
  }

  /** Where the word begins in the text, at `from` or later; -1: nowhere. */
  next(text: string, from = 0): number {
    const { word } = this;
    if (word.length <= shortLength) return text.indexOf(word, from);
    const beginning = word.slice(0, shortLength);
    let at = text.indexOf(beginning, from);
    while (at !== -1 && at < text.length) {
      for (let length = 0; at < text.length; at++) {
        length = this.#grown(length, text.charCodeAt(at));
        if (length === word.length) return at + 1 - length;
        if (length === 0) break;
      }
      at = text.indexOf(beginning, at);
    }
    return -1;
  }

  /** Every place where the word begins, without overlaps, from left to right. */
  places(text: string): number[] {
    const found: number[] = [];
    if (this.word === '') return found;
    for (let at = this.next(text); at !== -1; at = this.next(text, at + this.word.length)) found.push(at);
    return found;
  }

  /** The length of the longest end of the text, shorter than the word, with which the word begins. */
  overlap(text: string): number {
    let length = 0;
    for (let at = Math.max(0, text.length - this.word.length + 1); at < text.length; at++) {
      length = this.#grown(length, text.charCodeAt(at));
    }
    return length;
  }

  #grown(length: number, code: number): number {
    return grown(this.word, (this.#shorter ??= shorterPrefixes(this.word)), length, code);
  }
}

/** The length of the longest prefix that a text ends with, if it ended with one of `length` before this character. */
function grown(word: string, shorter: Uint32Array, length: number, code: number): number {
  let kept = length;
  while (kept > 0 && word.charCodeAt(kept) !== code) kept = shorter[kept - 1]!;
  return word.charCodeAt(kept) === code ? kept + 1 : kept;
}

function shorterPrefixes(word: string): Uint32Array {
  const shorter = new Uint32Array(word.length);
  for (let at = 1; at < word.length; at++) shorter[at] = grown(word, shorter, shorter[at - 1]!, word.charCodeAt(at));
  return shorter;
}
