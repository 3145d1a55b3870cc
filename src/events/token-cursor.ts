import type { RawResponseEvent } from './run-event.ts';
import type { TokenTail } from './token-tail.ts';

type Delta = Pick<RawResponseEvent, 'turn' | 'offset' | 'delta' | 'hidden'>;

/** What one viewer has received of the answers that the model streams. */
export class TokenCursor {
  #turn = 0;
  #attempt = 0;
  /** The viewer has the answer up to here, in UTF-16 code units. */
  #end = 0;

  /** What is new to the viewer; undefined: nothing. Tails of an attempt that was replaced are dropped. */
  next(turn: number, { attempt, offset, tail }: TokenTail): Delta | undefined {
    const isRetry = turn === this.#turn && attempt > this.#attempt;
    if (turn < this.#turn || (turn === this.#turn && attempt < this.#attempt)) return undefined;
    const startsOver = isRetry && this.#end > 0;
    if (turn !== this.#turn || isRetry) this.#begin(turn, attempt);
    const from = Math.max(this.#end, offset);
    const delta = tail.slice(from - offset);
    const hidden = from - this.#end;
    this.#end = Math.max(this.#end, offset + tail.length);
    // An empty text at offset 0 shows that the answer starts over.
    if (delta === '') return startsOver ? { turn, offset: 0, delta } : undefined;
    return { turn, offset: from, delta, ...(hidden > 0 && { hidden }) };
  }

  #begin(turn: number, attempt: number): void {
    this.#turn = turn;
    this.#attempt = attempt;
    this.#end = 0;
  }
}
