/** The redacted part of a text that a model is still writing: a secret must not show before it is complete. */
import type { TextRedactor } from './text-redactor.ts';
import { withPlaceholders } from '../core/redact/find-sensitive.ts';
import { type TokenTail, tokenTail } from './token-tail.ts';

/** The longest text that is searched again with each of its parts. A longer answer is sent as a whole. */
const mostWritten = 64_000;
/** The longest match of a built-in pattern over several words, and of a policy's custom pattern. */
const severalWords = 80;
const ownPattern = 1_000;

export class TailRedactor {
  readonly #redactor: TextRedactor;
  #turn = 0;
  #attempt = 0;
  #written = '';
  #shown = '';
  /** True: nothing more of this answer can be shown. */
  #hasLost = false;

  constructor(redactor: TextRedactor) {
    this.#redactor = redactor;
  }

  /** The redacted part of an answer. Its offset counts in the shown text. Undefined: nothing yet. */
  next(turn: number, { attempt, offset, tail }: TokenTail): TokenTail | undefined {
    if (turn !== this.#turn || attempt !== this.#attempt) this.#begin(turn, attempt);
    // The continuation of a text may be the rest of a secret.
    this.#hasLost ||= offset > this.#written.length || offset + tail.length > mostWritten;
    if (!this.#hasLost) {
      this.#written += tail.slice(this.#written.length - offset);
      const shown = this.#shownOf(this.#written);
      // Less than before: the next part may still belong to a secret whose place is already determined.
      const isLess = shown !== undefined && this.#shown.startsWith(shown);
      this.#hasLost = shown === undefined || (!isLess && !shown.startsWith(this.#shown));
      if (!this.#hasLost && !isLess) this.#shown = shown!;
    }
    return this.#shown === '' ? undefined : tokenTail(attempt, this.#shown);
  }

  #begin(turn: number, attempt: number): void {
    [this.#turn, this.#attempt, this.#written, this.#shown, this.#hasLost] = [turn, attempt, '', '', false];
  }

  #shownOf(text: string): string | undefined {
    const spans = this.#redactor.spansOf(text);
    if (spans === undefined) return undefined;
    const { settings } = this.#redactor.policies;
    if (settings === undefined) return text;
    const end = settledEnd(text, settings.patterns.length > 0, this.#redactor.secrets.beginsAt(text));
    const cut = spans.find(([start, until]) => start < end && until > end)?.[0] ?? end;
    return withPlaceholders(
      text.slice(0, cut),
      spans.filter(([, until]) => until <= cut),
    );
  }
}

/** A blank or an ideographic sign precedes a word. */
const beforeWord = /[\s\u3000-\u303f\uff01-\uff0f\uff1a-\uff20]/;
/** Cards, accounts, telephone numbers: words with digits, and all words between them. */
const lastDigits = /(?<!\S)\S*[\d+(].*$/s;
/** A quoted password may have several words. */
const openQuote = /(?:pass(?:word|wd|phrase)|secret|key|token|pwd)["']?\s{0,4}(?::|:?=|\s)\s{0,4}["'][^"']*$/i;
const longestQuote = 1_000;
/** Nothing of a key's first line is shown before its end shows the kind of key. */
const openKey = /-{1,5}(?:BEGIN [A-Z0-9 ]{0,60})?-{0,5}$/;
const longestKeyLine = 100;

/** The length of a text that no continuation can turn into a part of a secret. */
function settledEnd(text: string, hasOwnPatterns: boolean, secretAt: number): number {
  if (hasOwnPatterns) return Math.max(0, Math.min(secretAt, text.length - ownPattern));
  const indexOf = (expression: RegExp, start: number): number => {
    const found = expression.exec(text.slice(start));
    return found === null ? text.length : start + found.index;
  };
  return Math.min(
    secretAt,
    lastWord(text),
    indexOf(lastDigits, Math.max(0, text.length - severalWords)),
    indexOf(openQuote, Math.max(0, text.length - longestQuote)),
    indexOf(openKey, Math.max(0, text.length - longestKeyLine)),
  );
}

/** Returns the offset of the last word. A loop, because a regular expression that ends with `$` takes quadratic time here. */
function lastWord(text: string): number {
  let start = text.length;
  while (start > 0 && !beforeWord.test(text[start - 1]!)) start -= 1;
  return start;
}
