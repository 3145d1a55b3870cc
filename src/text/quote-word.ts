/** A word of a command as a person can paste it into a POSIX shell, which then takes it for exactly this text. */
export function quoteWord(word: string): string {
  return /^[\w.,:/@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
