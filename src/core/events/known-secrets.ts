import type { JsonObject } from '../base/tool-call.ts';
import { type Span, redactText } from '../redact/find-sensitive.ts';
import { hiddenTexts, leastHidden } from '../redact/join-redactions.ts';
import type { RedactedValue } from '../redact/redaction.ts';

const mostSecrets = 500;
const mostCharacters = 200_000;

/**
 * The texts that only their place in a call's arguments shows to be secret, such as the value of `password`: they are
 * hidden wherever else the run repeats them. What a pattern finds by itself is not kept.
 */
export class KnownSecrets {
  readonly #placeholders = new Map<string, string>();
  #characters = 0;
  #isFull = false;

  get size(): number {
    return this.#placeholders.size;
  }

  /** True if there were more than are kept: no text of the run can be shown any more. */
  get isFull(): boolean {
    return this.#isFull;
  }

  note(args: JsonObject, values: readonly RedactedValue[], kinds: readonly string[]): void {
    for (const { secret, placeholder } of hiddenTexts(args, values)) {
      if (secret.length < leastHidden || this.#placeholders.has(secret)) continue;
      if (redactText(secret, kinds) === placeholder) continue;
      this.#isFull ||= this.#placeholders.size >= mostSecrets || this.#characters + secret.length > mostCharacters;
      if (this.#isFull) return;
      this.#placeholders.set(secret, placeholder);
      this.#characters += secret.length;
    }
  }

  /** Where a text has any of them, the longest first. */
  spansIn(text: string): Span[] {
    const spans: Span[] = [];
    for (const [secret, placeholder] of this.#longestFirst()) {
      for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + secret.length)) {
        spans.push([at, at + secret.length, placeholder]);
      }
    }
    return spans;
  }

  /** Where the end of a text may be the beginning of one of them. The text's length: nowhere. */
  beginsAt(text: string): number {
    let earliest = text.length;
    for (const secret of this.#placeholders.keys()) {
      const end = text.slice(Math.max(0, text.length - secret.length + 1));
      earliest = Math.min(earliest, text.length - longestOverlap(end, secret));
    }
    return earliest;
  }

  #longestFirst(): [string, string][] {
    return [...this.#placeholders].sort(([one], [other]) => other.length - one.length);
  }
}

/** The length of the longest end of `text` with which `word` begins, by Knuth, Morris and Pratt. */
function longestOverlap(text: string, word: string): number {
  // For each prefix of the word, the longest shorter one that it also ends with.
  const shorter = new Uint32Array(word.length);
  const grown = (from: number, character: string): number => {
    let length = from;
    while (length > 0 && word[length] !== character) length = shorter[length - 1]!;
    return word[length] === character ? length + 1 : length;
  };
  for (let at = 1; at < text.length; at++) shorter[at] = grown(shorter[at - 1]!, word[at]!);
  let length = 0;
  for (const character of text.split('')) length = grown(length, character);
  return length;
}
