import { type FindMore, redactText } from '../core/redact/find-sensitive.ts';
import { placeholderOf } from '../core/redact/kinds.ts';

const keyBegins = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
const keyEnds = /-----END [A-Z0-9 ]{0,60}-----/;

/** Redacts line by line. Only a private key spans several lines: all later ones, if its end is missing. */
export class LineRedactor {
  readonly #kinds: readonly string[];
  readonly #findMore: () => FindMore | undefined;
  #isInKey = false;

  /** `findMore` makes a new search for each line, because a search counts its work. */
  constructor(kinds: readonly string[], findMore: () => FindMore | undefined = () => undefined) {
    this.#kinds = kinds;
    this.#findMore = findMore;
  }

  /** Returns the redacted line with its line break; empty inside a private key. */
  redact(line: string): string {
    if (!this.#kinds.includes('PRIVATE_KEY')) return this.#redactText(line);
    let [shown, rest] = ['', line];
    while (rest !== '') {
      if (this.#isInKey) {
        const end = keyEnds.exec(rest);
        if (end === null) return shown;
        rest = rest.slice(end.index + end[0].length);
        this.#isInKey = false;
      }
      const begin = keyBegins.exec(rest);
      if (begin === null) return shown + this.#redactText(rest);
      shown += this.#redactText(rest.slice(0, begin.index)) + placeholderOf('PRIVATE_KEY');
      rest = rest.slice(begin.index + begin[0].length);
      this.#isInKey = true;
    }
    return shown;
  }

  #redactText(text: string): string {
    return text === '' ? '' : redactText(text, this.#kinds, this.#findMore());
  }
}
