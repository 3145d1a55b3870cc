import type { JsonObject } from '../core/base/tool-call.ts';
import { type Span, redactText } from '../core/redact/find-sensitive.ts';
import { type HiddenText, hiddenTexts, leastHidden } from '../core/redact/join-redactions.ts';
import { tooMuch } from '../core/redact/kinds.ts';
import type { RedactedValue } from '../core/redact/redaction.ts';

const mostSecrets = 500;
const mostCharacters = 200_000;
/** The work of one search, in characters of a text for each secret: a quarter of a second. */
const mostSearched = 50_000_000;

/**
 * Texts that are known as secret only by their place in a call's arguments, such as the value of `password`: they are
 * hidden in all other places of the run. Texts that a pattern finds are not stored.
 */
export class KnownSecrets {
  readonly #bySecret = new Map<string, HiddenText>();
  #characters = 0;
  #isFull = false;

  get size(): number {
    return this.#bySecret.size;
  }

  /** True if there were more than the limit: no text of the run can be shown any more. */
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

  /** The places of any of them in a text, the longest first. If the search would take too long, the whole text. */
  spansIn(text: string): Span[] {
    if (text.length * this.size > mostSearched) return [[0, text.length, tooMuch]];
    const longestFirst = [...this.#bySecret.values()].sort((one, other) => other.secret.length - one.secret.length);
    return longestFirst.flatMap((hidden) => hidden.spansIn(text));
  }

  /** Where the end of a text may be the beginning of one of them. The text's length: nowhere. */
  beginsAt(text: string): number {
    const overlaps = Array.from(this.#bySecret.values(), (hidden) => hidden.overlap(text));
    return text.length - Math.max(0, ...overlaps);
  }
}
