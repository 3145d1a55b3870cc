/** Longer than the end of a name that says what its digits are. */
const longestEnd = 30;

/** For digits that only the argument's name tells from others. */
export function namedKind(whole: string, text: string): string | undefined {
  const name = whole.slice(-longestEnd);
  if (/(?:ssn|social_?security(?:_?number)?)$/i.test(name) && /^\d{9}$/.test(text)) return 'SSN';
  return /(?:phone|mobile|fax|(?<![a-z])tel)(?:_?number)?$/i.test(name) && /^\d{7,15}$/.test(text)
    ? 'PHONE'
    : undefined;
}
