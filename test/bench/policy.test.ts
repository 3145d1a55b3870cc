import { expect, test } from 'vitest';
import { checkAgreement } from '../../bench/policy/agreement.ts';
import { countersign, naive } from '../../bench/policy/engines.ts';
import { works } from '../../bench/policy/works.ts';

/** Every tenth of the calls that `npm run bench:policy` checks: matching without compiling is slow. */
const fewer = works.map((work) => ({ ...work, checked: work.checked.filter((_, index) => index % 10 < 1) }));

test.each(fewer.map((work) => [work.name, work] as const))('%s: compiled and naive answers agree', (_, work) => {
  expect(() => checkAgreement(work, [countersign, naive])).not.toThrow();
});

test('a differing answer is found', () => {
  const other = { name: 'other', load: () => () => 'ask' as const };
  expect(() => checkAgreement(fewer[0]!, [countersign, other])).toThrow(/other says ask of .*, countersign says/);
  expect(() => checkAgreement(fewer[0]!, [other])).toThrow('all answers are ask');
});
