import type { Grant } from 'countersign/client';

/** The calls that a grant answers, in words. */
export function scopeText({ tool, scope }: Pick<Grant, 'tool' | 'scope'>): string {
  if (scope.kind === 'call') return `exactly the same call of ${tool}`;
  if (scope.kind === 'tool') return `every call of ${tool}`;
  const globs = Object.entries(scope.match).map(([name, glob]) => `${name} matches ${glob}`);
  return `calls of ${tool} where ${globs.join(' and ')}`;
}

/** Whose it is, and how long it lasts. */
export function usesText({ grantId, by = [], usesLeft, expiresAtMs }: Grant): string {
  const names = by.map(({ reviewerId, identity }) =>
    reviewerId === undefined
      ? 'an unnamed reviewer'
      : `${reviewerId}${identity === 'verified' ? '' : ' (claimed name)'}`,
  );
  return [
    grantId,
    ...(names.length > 0 ? [`by ${names.join(', ')}`] : []),
    usesLeft === undefined ? 'any number of times' : usesLeft === 1 ? '1 use left' : `${usesLeft} uses left`,
    expiresAtMs === undefined ? 'until the run ends' : `until ${new Date(expiresAtMs).toLocaleString()}`,
  ].join(' · ');
}
