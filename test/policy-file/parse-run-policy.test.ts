import { expect, test } from 'vitest';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';
import { parseRunPolicy } from '../../src/policy-file/parse-run-policy.ts';

const many = <Item>(count: number, itemOf: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => itemOf(index));
const when = (condition: string) => ({ pattern: 'pay', when: condition, action: 'deny' });

test.each<[string, object, string]>([
  ['a million characters', { rules: [], x: 'x'.repeat(1_000_000) }, 'characters of JSON'],
  ['1,001 rules', { rules: many(1_001, () => ({ pattern: 'a', action: 'deny' })) }, '1001 rules'],
  [
    '1,001 rules of two agents',
    { agents: { a: { rules: many(500, () => 1) }, b: { rules: many(501, () => 1) } } },
    '1001 rules',
  ],
  [
    '1,000 globs in one rule',
    { rules: [{ args: Object.fromEntries(many(1_000, (i) => [`a${i}`, '*'])) }] },
    '1001 rules',
  ],
  [
    'patterns of redaction that repeat',
    { redact: { patterns: many(10, () => ({ name: 'A', pattern: `((x{10}){10}){10}${'y{1000}'.repeat(60)}` })) } },
    'repeat too much',
  ],
  ['1,001 names', { rules: many(21, () => ({ ask: { one_of_each: many(50, () => 'group:a') } })) }, '1050 people'],
  ['names in steps', { rules: [{ ask: { escalate: many(21, () => ({ to: many(50, () => 'a') })) } }] }, '1050 people'],
  ['101 steps of escalation', { rules: many(6, () => ({ ask: { escalate: many(17, () => 1) } })) }, '102 steps'],
  ['100 conditions of 1,000 characters', { rules: many(100, () => when('true || '.repeat(124) + 'true')) }, 'too long'],
  [
    'thirty copies of a thousand',
    { rules: many(30, () => when('args.to.matches("((a{10}){10}){10}")')) },
    'repeat too much',
  ],
  ['one that no ruling could afford', { rules: [when(`args.to.matches("(${'[a-z]'.repeat(50)}){1000}")`)] }, 'repeat'],
])('the policy of a run is refused before it is read: %s', (_, document, what) => {
  const read = parseRunPolicy(document);
  const problems = 'problems' in read ? read.problems : [];
  expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining(what)]);
  expect(problems[0]!.message).toMatch(
    /^the policy of a run is too large: .+; larger ones belong in the policy of the agent$/,
  );
});

test.each<[string, object]>([
  ['1,000 rules', { rules: many(1_000, (index) => ({ pattern: `tool-${index}`, action: 'deny' })) }],
  [
    'usual conditions',
    { rules: many(200, (index) => when(`args.amount > ${index}.0 && args.to.matches("^[a-z]{1,64}$")`)) },
  ],
])('what people write is read: %s', (_, document) => {
  expect(parseRunPolicy(document)).toEqual(parsePolicy(document));
});

test('its examples are not tried, and those of a file are', () => {
  const document = { rules: [{ pattern: 'pay:x', action: 'deny', examples: { match: ['y'] } }] };
  expect(parseRunPolicy(document)).toHaveProperty('policy');
  expect(parsePolicy(document)).toHaveProperty('problems');
});
