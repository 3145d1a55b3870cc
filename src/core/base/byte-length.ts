/** Bytes in UTF-8. Implemented here because the sandbox has neither Buffer nor a cheap TextEncoder. */
export function byteLength(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    if (unit >= 0xd800 && unit < 0xdc00) {
      bytes += 1;
      index++;
    }
  }
  return bytes;
}
