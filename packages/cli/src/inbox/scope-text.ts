import { escapeText } from 'countersign/base';
import type { Grant } from 'countersign/client';

/** The scope of a grant in a few words, escaped. */
export function scopeText(scope: Grant['scope']): string {
  if (scope.kind === 'tool') return 'any call';
  if (scope.kind === 'call') return `this call (digest ${escapeText(scope.digest.slice(0, 12))}…)`;
  return Object.entries(scope.match)
    .map(([field, glob]) => `${escapeText(field)}=${escapeText(glob)}`)
    .join(', ');
}
