/** False if the text holds half a surrogate pair, which UTF-8, and so every other language, cannot represent. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}
