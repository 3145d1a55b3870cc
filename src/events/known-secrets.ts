import type { JsonObject } from '../core/base/tool-call.ts';
import { type Span, redactText } from '../core/redact/find-sensitive.ts';
import { type HiddenText, hiddenTexts, leastHidden } from '../core/redact/join-redactions.ts';
import { tooMuch } from '../core/redact/kinds.ts';
import type { RedactedValue } from '../core/redact/redaction.ts';

const mostSecrets = 500;
const mostCharacters = 200_000;
/**
 * The most work of one search: the characters of the text, multiplied by the number of secrets. It takes a quarter of a
 * second.
 */
const mostSearched = 50_000_000;

/**
 * Texts that only their place in the arguments of a call shows to be secret, such as the value of `password`. They are
 * hidden everywhere else in the run too. Texts that a pattern finds are not stored, because the pattern finds them
 * again.
 */
export class KnownSecrets {
  readonly #bySecret = new Map<string, HiddenText>();
  #characters = 0;
  #isFull = false;

  get size(): number {
    return this.#bySecret.size;
  }

  /** True if the run has more secrets than can be stored. Then no text of the run can be shown any more. */
  get isFull(): boolean {
    return this.#isFull;
  }

  note(args: JsonObject, values: readonly RedactedValue[], kinds: readonly string[]): void {
    for (const hidden of hiddenTexts(args, values)) {
      const { secret, placeholder } = hidden;
      if (secret.length < leastHidden || this.#bySecret.has(secret)) continue;
      if (redactText(secret, kinds) === placeholder) continue;
      this.#isFull ||= this.size >= mostSecrets || this.#characters + secret.length > mostCharacters;
      if (this.#isFull) return;
      this.#bySecret.set(secret, hidden);
      this.#characters += secret.length;
    }
  }

  /**
   * The places of these secrets in a text, those of the longest secret first. If the search would take too long, the
   * whole text is one place.
   */
  spansIn(text: string): Span[] {
    if (text.length * this.size > mostSearched) return [[0, text.length, tooMuch]];
    const longestFirst = [...this.#bySecret.values()].sort((one, other) => other.secret.length - one.secret.length);
    return longestFirst.flatMap((hidden) => hidden.spansIn(text));
  }

  /**
   * The offset from which the end of a text may be the beginning of a secret; the length of the text if there is none.
   */
  beginsAt(text: string): number {
    const overlaps = Array.from(this.#bySecret.values(), (hidden) => hidden.overlap(text));
    return text.length - Math.max(0, ...overlaps);
  }
}
