import { resolve } from 'node:path';

export const repository = resolve(import.meta.dirname, '../..');

/** The files of the ruling. The modules below them (globs, CEL, splitting a command) have their own tests. */
export const rulingFiles = [
  'policy/ruling',
  'policy/layer-answer',
  'policy/modes',
  'policy/grants',
  'policy/whole-call',
  'policy/compiled-policy',
  'policy/candidate-index',
  'match/matching',
  'policy/part-matchers',
  'policy/limits',
  'policy/ask-terms',
  'policy/run-side',
  'policy/known-ceiling',
] as const;

/** The tests of these files. Tests of single functions come first, because they fail soonest. */
export const rulingTests = [
  'policy/grants',
  'policy/modes',
  'policy/limits',
  'policy/run-side',
  'policy/known-ceiling',
  'policy/ask-terms',
  'policy/from-below',
  'policy/parents',
  'match/matching',
  'policy/compiled-policy',
  'policy/part-matchers',
  'policy/wrapped-parts',
  'policy/layer-answer',
  'policy/whole-call',
  'policy/ruling',
  'policy-file/manual',
  'policy/attacks',
  'policy/candidate-index',
  'policy/laws',
  'policy/ask-terms-laws',
] as const;
