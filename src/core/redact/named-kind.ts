/** For digits that only the argument's name tells from others. */
export function namedKind(name: string, text: string): string | undefined {
  if (/(?:ssn|social_?security(?:_?number)?)$/i.test(name) && /^\d{9}$/.test(text)) return 'SSN';
  return /(?:phone|mobile|fax|tel)(?:_?number)?$/i.test(name) && /^\d{7,15}$/.test(text) ? 'PHONE' : undefined;
}
