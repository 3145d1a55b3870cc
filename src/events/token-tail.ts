import { byteLength } from '../core/base/text.ts';
import type { RawResponseEvent } from './run-event.ts';

/** The end of an answer that a model streams. It is the heartbeat details of the activity `countersign.callModel`. */
export interface TokenTail {
  /** The attempt of the activity that streams the answer, from 1. A later attempt starts the answer over. */
  attempt: number;
  /** How many UTF-16 code units of the answer precede `tail`. */
  offset: number;
  /** At most 8 KB in UTF-8. It never begins or ends within a surrogate pair. A lone surrogate is replaced by U+FFFD. */
  tail: string;
}

const maxTailBytes = 8_192;

/** Returns the last bytes of the answer so far, without half of a surrogate pair whose other half has not arrived. */
export function tokenTail(attempt: number, text: string): TokenTail {
  const end = isFirstHalf(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length;
  let offset = end;
  let bytes = 0;
  while (offset > 0) {
    bytes += bytesOfCharacterBefore(text, offset);
    if (bytes > maxTailBytes) break;
    offset -= endsWithPair(text, offset) ? 2 : 1;
  }
  return { attempt, offset, tail: text.slice(offset, end).toWellFormed() };
}

/** Returns how many bytes of UTF-8 the character that ends at `end` has. */
function bytesOfCharacterBefore(text: string, end: number): number {
  if (endsWithPair(text, end)) return 4;
  const unit = text.charCodeAt(end - 1);
  if (unit < 0x80) return 1;
  return unit < 0x800 ? 2 : 3;
}

/** Reads heartbeat details. Undefined if they are invalid, because any worker of the namespace can write them. */
export function readTokenTail(details: unknown): TokenTail | undefined {
  if (typeof details !== 'object' || details === null) return undefined;
  const { attempt, offset, tail } = details as Record<string, unknown>;
  if (!isCount(attempt) || attempt < 1 || !isCount(offset)) return undefined;
  if (typeof tail !== 'string' || tail.length > maxTailBytes || byteLength(tail) > maxTailBytes) return undefined;
  return { attempt, offset, tail };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function endsWithPair(text: string, end: number): boolean {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xdc00 && unit < 0xe000 && isFirstHalf(text.charCodeAt(end - 2));
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

type Delta = Pick<RawResponseEvent, 'turn' | 'offset' | 'delta' | 'hidden'>;

/** Remembers which part of the streamed answers a viewer has received. */
export class TokenCursor {
  #turn = 0;
  #attempt = 0;
  /** How many UTF-16 code units of the answer the viewer has. */
  #end = 0;

  /** Returns the text that is new for the viewer, if any. Drops tails of earlier attempts. */
  next(turn: number, { attempt, offset, tail }: TokenTail): Delta | undefined {
    const isRetry = turn === this.#turn && attempt > this.#attempt;
    if (turn < this.#turn || (turn === this.#turn && attempt < this.#attempt)) return undefined;
    const startsOver = isRetry && this.#end > 0;
    if (turn !== this.#turn || isRetry) [this.#turn, this.#attempt, this.#end] = [turn, attempt, 0];
    const from = Math.max(this.#end, offset);
    const delta = tail.slice(from - offset);
    const hidden = from - this.#end;
    this.#end = Math.max(this.#end, offset + tail.length);
    // An empty text at offset 0 tells the viewer that the answer starts over.
    if (delta === '') return startsOver ? { turn, offset: 0, delta } : undefined;
    return { turn, offset: from, delta, ...(hidden > 0 && { hidden }) };
  }
}
