/** The text if it has at most `most` UTF-16 code units, else its beginning and `…`, without half a surrogate pair. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/\p{Surrogate}/gu, '')}…`;
}
