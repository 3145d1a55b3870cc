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
      for (let at = Math.max(0, text.length - secret.length + 1); at < earliest; at++) {
        if (secret.startsWith(text.slice(at))) earliest = at;
      }
    }
    return earliest;
  }

  #longestFirst(): [string, string][] {
    return [...this.#placeholders].sort(([one], [other]) => other.length - one.length);
  }
}
