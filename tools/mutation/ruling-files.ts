import { resolve } from 'node:path';

export const repository = resolve(import.meta.dirname, '../..');

/** What the ruling is made of. What they stand on (globs, CEL, splitting a command) has tests of its own. */
export const rulingFiles = [
  'ruling',
  'layer-answer',
  'modes',
  'grants',
  'compiled-policy',
  'candidate-index',
  'matching',
  'part-matchers',
  'limits',
  'ask-terms',
  'run-side',
  'known-ceiling',
] as const;

/** The tests that are about them. Those that look at single functions come first: they say no soonest. */
export const rulingTests = [
  'grants',
  'modes',
  'limits',
  'run-side',
  'known-ceiling',
  'ask-terms',
  'parents',
  'matching',
  'compiled-policy',
  'part-matchers',
  'layer-answer',
  'ruling',
  'policy-manual',
  'attacks',
  'candidate-index',
  'laws',
  'ask-terms-laws',
] as const;
