const brand = Symbol.for('countersign.undecodable');

export type UndecodableCode = 'undecodable' | 'arguments_invalid';

/**
 * Stands where a payload could not be decoded, or decodes to something too deep to be written again (I5).
 * The brand is a symbol, so no JSON that anyone sends can pretend to be one, and none can be written.
 */
export class Undecodable {
  readonly [brand] = true;
  /** Bytes of the payload; its content is kept nowhere (I4). */
  readonly size: number;
  readonly why: string;
  /** How it is refused: `arguments_invalid` where only edited arguments are at fault. */
  readonly code: UndecodableCode;
  /** True where the payload is kept in external storage that this process cannot read; another may. */
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

/** The encoding under which a reference to external storage arrives that was not followed; its data says why. */
export const unreadEncoding = 'countersign/unread-reference';

/** Recognises the brand across realms (sandbox, jest, Node), where `instanceof` does not. */
export function isUndecodable(value: unknown): value is Undecodable {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, brand);
}

/** Bytes of what could not be decoded, else characters of a value's JSON: all that is kept of what is refused (I4). */
export function sizeOf(value: unknown): number {
  if (isUndecodable(value)) return value.size;
  // Text with a number for each byte would take seconds to write.
  if (ArrayBuffer.isView(value)) return value.byteLength;
  return JSON.stringify(value)?.length ?? 0;
}

/** Values nested deeper than this are refused: reading them is safe, writing them again overflows the stack. */
export const maxDepth = 200;

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const quote = 0x22;
const backslash = 0x5c;

/** True when JSON text, as UTF-8 bytes, nests deeper than `maxDepth`. One pass, no recursion, any bytes. */
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
