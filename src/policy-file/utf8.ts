/** The text of a file, or where its bytes are no UTF-8 and what to do. */
export function decodeUtf8(bytes: Uint8Array): { text: string } | { line: number; column: number; message: string } {
  const utf16 =
    bytes.length >= 2 && (bytes[0] === 0xff || bytes[0] === 0xfe) && (bytes[1] === 0xff || bytes[1] === 0xfe);
  if (utf16) return { line: 1, column: 1, message: `the file is UTF-16: ${remedy}` };
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    return { text: decoder.decode(bytes) };
  } catch {
    const good = goodLength(bytes);
    const lines = new TextDecoder().decode(bytes.subarray(0, good)).split('\n');
    const byte = bytes[good]!.toString(16).toUpperCase().padStart(2, '0');
    return {
      line: lines.length,
      column: lines.at(-1)!.length + 1,
      message: `the byte 0x${byte} is not UTF-8: ${remedy}`,
    };
  }
}

const remedy = 'save the file as UTF-8';

/** How many bytes from the start are UTF-8, by halving: a longer start cannot be good if a shorter one is bad. */
function goodLength(bytes: Uint8Array): number {
  let [good, bad] = [0, bytes.length];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (isGood(bytes.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  // The last character may have begun and not ended.
  for (let whole = good; whole >= Math.max(0, good - 3); whole -= 1)
    if (isGood(bytes.subarray(0, whole), false)) return whole;
  return good;
}

/** `isStart`: it may end in the middle of a character. */
function isGood(bytes: Uint8Array, isStart = true): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isStart });
    return true;
  } catch {
    return false;
  }
}
