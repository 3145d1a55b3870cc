/** A person's answer to one request. */
export type TypedAnswer = { approved: true } | { approved: false; reason?: string };

/**
 * An answer, or a sentence that says why the line is not one. Empty for an empty line, which never approves anything.
 */
export function readTypedAnswer(line: string): TypedAnswer | string {
  const text = line.trim();
  const word = text.toLowerCase();
  if (word === '') return '';
  if (text === 'A' || word === 'always') return `'always' is not built yet: approve this one call with a.`;
  if (['a', 'approve', 'yes', 'y'].includes(word)) return { approved: true };
  if (['d', 'deny', 'no', 'n'].includes(word)) return { approved: false };
  if (['s', 'skip'].includes(word)) return { approved: false, reason: 'skipped' };
  return 'Please answer a (approve) or d (deny).';
}
