import { byteLength } from '../core/base/text.ts';

/** The last text of a model's answer that is still being streamed: the heartbeat details of `countersign.callModel`. */
export interface TokenTail {
  /** The attempt of the activity that streams, from 1. A later attempt starts over. */
  attempt: number;
  /** How much of the answer comes before `tail`, in UTF-16 code units. */
  offset: number;
  /** At most 8 KB in UTF-8; never begins or ends within a surrogate pair. Like the answer, it has U+FFFD for half a pair. */
  tail: string;
}

const maxTailBytes = 8_192;

/** The tail of the text that an attempt has received so far. */
export function tokenTail(attempt: number, text: string): TokenTail {
  const end = isFirstHalf(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length;
  let offset = end;
  for (let bytes = 0; offset > 0;) {
    const isPair = endsWithPair(text, offset);
    const unit = text.charCodeAt(offset - 1);
    bytes += isPair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    if (bytes > maxTailBytes) break;
    offset -= isPair ? 2 : 1;
  }
  return { attempt, offset, tail: text.slice(offset, end).toWellFormed() };
}

/** Reads heartbeat details. Any worker of the namespace can have written them: undefined for anything else. */
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
