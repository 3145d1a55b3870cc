/**
 * Redacts a text that a model is still writing. The end of the text is not shown as long as it may be the beginning of
 * a secret.
 */
import type { TextRedactor } from './text-redactor.ts';
import { withPlaceholders } from '../core/redact/find-sensitive.ts';
import { type TokenTail, tokenTail } from './token-tail.ts';

/**
 * The longest text that is redacted while it is written, because each new part is searched together with all earlier
 * ones. A longer answer is shown only when it is complete.
 */
const mostWritten = 64_000;
/**
 * The longest match of a built-in pattern that covers several words, and the longest match of a policy's custom
 * pattern.
 */
const longestOfSeveralWords = 80;
const longestOfOwnPattern = 1_000;

export class TailRedactor {
  readonly #redactor: TextRedactor;
  #turn = 0;
  #attempt = 0;
  #written = '';
  #shown = '';
  /** True if no further part of this answer can be shown. */
  #hasLost = false;

  constructor(redactor: TextRedactor) {
    this.#redactor = redactor;
  }

  /**
   * The redacted text of an answer so far. Its offset counts in the redacted text. Undefined: nothing can be shown yet.
   */
  next(turn: number, { attempt, offset, tail }: TokenTail): TokenTail | undefined {
    if (turn !== this.#turn || attempt !== this.#attempt) this.#startAnswer(turn, attempt);
    // A part before this text was missed, so this text may begin with the rest of a secret.
    this.#hasLost ||= offset > this.#written.length || offset + tail.length > mostWritten;
    if (!this.#hasLost) {
      this.#written += tail.slice(this.#written.length - offset);
      const shown = this.#shownOf(this.#written);
      // Less text can be shown than before: keep what is shown, because the next part may still extend a secret.
      const isLess = shown !== undefined && this.#shown.startsWith(shown);
      this.#hasLost = shown === undefined || (!isLess && !shown.startsWith(this.#shown));
      if (!this.#hasLost && !isLess) this.#shown = shown!;
    }
    return this.#shown === '' ? undefined : tokenTail(attempt, this.#shown);
  }

  #startAnswer(turn: number, attempt: number): void {
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

/** The characters before a word: a blank, or an ideographic or full-width sign. */
const beforeWord = /[\s\u3000-\u303f\uff01-\uff0f\uff1a-\uff20]/;
/** The end of a text that may be part of a card, account or telephone number: from the first word with a digit. */
const lastDigits = /(?<!\S)\S*[\d+(].*$/s;
/** The beginning of a quoted password, which may have several words. */
const openQuote = /(?:pass(?:word|wd|phrase)|secret|key|token|pwd)["']?\s{0,4}(?::|:?=|\s)\s{0,4}["'][^"']*$/i;
const longestQuote = 1_000;
/** The beginning of a key's first line. Nothing of that line is shown before its end shows the kind of the key. */
const openKey = /-{1,5}(?:BEGIN [A-Z0-9 ]{0,60})?-{0,5}$/;
const longestKeyLine = 100;

/** The length of the beginning of a text that is certainly not part of a secret, however the text goes on. */
function settledEnd(text: string, hasOwnPatterns: boolean, secretAt: number): number {
  if (hasOwnPatterns) return Math.max(0, Math.min(secretAt, text.length - longestOfOwnPattern));
  const indexOf = (expression: RegExp, start: number): number => {
    const found = expression.exec(text.slice(start));
    return found === null ? text.length : start + found.index;
  };
  return Math.min(
    secretAt,
    lastWordStart(text),
    indexOf(lastDigits, Math.max(0, text.length - longestOfSeveralWords)),
    indexOf(openQuote, Math.max(0, text.length - longestQuote)),
    indexOf(openKey, Math.max(0, text.length - longestKeyLine)),
  );
}

/**
 * Returns the offset of the last word. A loop, because a regular expression that ends with `$` takes quadratic time
 * here.
 */
function lastWordStart(text: string): number {
  let start = text.length;
  while (start > 0 && !beforeWord.test(text[start - 1]!)) start -= 1;
  return start;
}
