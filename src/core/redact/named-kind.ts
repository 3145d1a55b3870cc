/** Longer than the end of a name that says what its digits are. */
const longestEnd = 30;

/** The value of a header `Authorization`. */
const credentials = /^(?:basic|bearer|digest|negotiate|token|api-?key)\s{1,4}\S/i;

/** For what only the argument's name tells from others. */
export function namedKind(whole: string, text: string): string | undefined {
  const name = whole.slice(-longestEnd);
  if (/authorization$/i.test(name) && credentials.test(text)) return 'PROVIDER_KEY';
  if (/(?:ssn|social_?security(?:_?number)?)$/i.test(name) && /^\d{9}$/.test(text)) return 'SSN';
  return /(?:phone|mobile|fax|(?<![a-z])tel)(?:_?number)?$/i.test(name) && /^\d{7,15}$/.test(text)
    ? 'PHONE'
    : undefined;
}
