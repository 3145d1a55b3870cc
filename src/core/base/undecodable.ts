const brand = Symbol.for('countersign.undecodable');

export type UndecodableCode = 'undecodable' | 'arguments_invalid';

/** A payload that cannot be decoded, or is too deep to be encoded again (I5). No JSON value has this brand. */
export class Undecodable {
  readonly [brand] = true;
  /** Bytes of the payload. Its content is not kept (I4). */
  readonly size: number;
  readonly why: string;
  /** The problem code of the refusal: `arguments_invalid` if only edited arguments are at fault. */
  readonly code: UndecodableCode;
  /** True if this process lacks the external storage or the codec of the payload; another process may have it. */
  readonly unread: boolean;

  constructor(
    size: number,
    why: string,
    { unread = false, code = 'undecodable' }: { unread?: boolean; code?: UndecodableCode } = {},
  ) {
    this.size = size;
    this.why = why;
    this.unread = unread;
    this.code = code;
  }
}

/** The encoding of a payload that a process puts in the place of a payload it could not read. The data says why. */
export const unreadEncoding = 'countersign/unread-reference';

/** The metadata entry in which an encrypted payload names its key. */
export const keyIdName = 'encryption-key-id';

/** True for an `Undecodable`, also one of another realm (Temporal's sandbox, Node), where `instanceof` is false. */
export function isUndecodable(value: unknown): value is Undecodable {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, brand);
}

/** The size of a refused value (I4): the bytes of an undecodable payload; for others, the characters of JSON. */
export function sizeOf(value: unknown): number {
  if (isUndecodable(value)) return value.size;
  // The JSON text of a byte array, one number per byte, would take seconds to write.
  if (ArrayBuffer.isView(value)) return value.byteLength;
  return JSON.stringify(value)?.length ?? 0;
}

/** Maximum nesting of values: deeper ones can be decoded, but encoding them again overflows the stack. */
export const maxDepth = 200;

const [openBrace, closeBrace, openBracket, closeBracket, quote, backslash] = [0x7b, 0x7d, 0x5b, 0x5d, 0x22, 0x5c];

/** True if JSON text, as UTF-8 bytes, nests deeper than `maxDepth`. One pass, no recursion, accepts any bytes. */
export function nestsTooDeep(bytes: Uint8Array): boolean {
  let depth = 0;
  let inText = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (inText) {
      if (byte === backslash) index++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === openBrace || byte === openBracket) {
      if (++depth > maxDepth) return true;
    } else if (byte === closeBrace || byte === closeBracket) depth--;
  }
  return false;
}
