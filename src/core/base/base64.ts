const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * The bytes of a base64 text (RFC 4648 section 4), or undefined if it is not valid. Padding is required and unused bits
 * must be zero, so each sequence of bytes has exactly one text. The workflow sandbox has no Buffer.
 */
export function bytesFromBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = Number(text.endsWith('=')) + Number(text.endsWith('=='));
  const length = text.length - padding;
  const bytes = new Uint8Array(Math.floor((length * 6) / 8));
  let bits = 0;
  let held = 0;
  let at = 0;
  // No expression: one that repeats groups overflows the stack on a text of some megabytes.
  for (let index = 0; index < length; index++) {
    const digit = alphabet.indexOf(text[index]!);
    if (digit < 0) return undefined;
    held = ((held << 6) | digit) & 0xfff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at] = (held >> bits) & 0xff;
    at += 1;
  }
  return (held & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}
