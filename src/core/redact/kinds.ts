/** What is found without a policy's own patterns. Each kind is the name of its placeholder. */
export const sensitiveKinds = [
  'PRIVATE_KEY',
  'JWT',
  'AWS_ACCESS_KEY',
  'OPENAI_KEY',
  'PROVIDER_KEY',
  'PASSWORD',
  'CARD',
  'SSN',
  'IBAN',
  'EMAIL',
  'PHONE',
] as const;
/** Something secret or personal that is found by its form. */
export type SensitiveKind = (typeof sensitiveKinds)[number];

/** The kinds that are hidden wherever a text leaves a run. The others identify a person. */
export const secretKinds: readonly SensitiveKind[] = sensitiveKinds.slice(0, 8);

/** Those by which a reviewer tells whom or what a call acts on. */
export const identifyingKinds: readonly string[] = ['IBAN', 'EMAIL', 'PHONE'];

export function placeholderOf(kind: string): string {
  return `[${kind}]`;
}

/** Stands for a whole text that would take too long to search, or of which too much would be replaced. */
export const tooMuch = placeholderOf('REDACTED');
/** A run carries the spans of its open requests. A text with more is replaced as a whole. */
export const mostSpans = 500;
