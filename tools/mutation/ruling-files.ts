import { resolve } from 'node:path';

export const repository = resolve(import.meta.dirname, '../..');

/** The files of the ruling. The modules below them (globs, CEL, splitting a command) have their own tests. */
export const rulingFiles = [
  'core/policy/ruling',
  'core/policy/layer-answer',
  'core/policy/modes',
  'core/policy/grants',
  'core/policy/whole-call',
  'core/policy/compiled-policy',
  'core/match/matching',
  'core/policy/part-matchers',
  'core/policy/limits',
  'core/policy/run-limits',
  'core/policy/run-cost',
  'core/policy/advice',
  'core/policy/ask-terms',
  'core/policy/run-side',
  'policy-file/parse-run-policy',
] as const;

/** The tests of these files. Tests of single functions come first, because they fail soonest. */
export const rulingTests = [
  'core/policy/grants',
  'core/policy/modes',
  'core/policy/limits',
  'core/policy/run-limits',
  'core/policy/run-cost',
  'core/policy/advisor-answers',
  'core/policy/advice',
  'core/policy/run-side',
  'core/policy/show',
  'policy-file/known-ceiling',
  'policy-file/parse-run-policy',
  'core/ledger/grants-of-commands',
  'core/ledger/hidden-arguments',
  'core/redact/redact-arguments',
  'core/policy/ask-terms',
  'core/policy/from-below',
  'core/policy/parents',
  'core/match/matching',
  'core/policy/compiled-policy',
  'core/policy/part-matchers',
  'core/policy/wrapped-parts',
  'core/policy/layer-answer',
  'core/policy/whole-call',
  'core/policy/ruling',
  'policy-file/manual',
  'core/policy/attacks',
  'core/policy/candidate-index',
  'core/policy/laws',
  'core/policy/ask-terms-laws',
  'core/policy/grant-laws',
  'core/policy/star-laws',
] as const;
