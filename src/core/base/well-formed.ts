/** False if the text holds half a surrogate pair: no UTF-8, so no other language, can carry it. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}
