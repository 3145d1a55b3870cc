import { expect, test } from 'vitest';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';
import { parseRunPolicy } from '../../src/policy-file/parse-run-policy.ts';

const many = <Item>(count: number, itemOf: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => itemOf(index));
const action = 'deny';
const when = (condition: string) => ({ pattern: 'pay', when: condition, action });

const tooManyRules = 'it has 1001 rules and globs on arguments, and may have 1000';
const tooManyNames = 'its rules name 1050 people and groups, and may name 1000';
const tooMuchWork = 'its conditions and patterns are too long, or repeat too much';

test.each<[string, object, string, string?]>([
  [
    'a million characters',
    { rules: [], x: 'x'.repeat(1_000_000) },
    'it has 1000019 characters of JSON, and may have 200000',
    '',
  ],
  ['1,001 rules', { rules: many(1_001, () => ({ pattern: 'a', action })) }, tooManyRules],
  [
    '1,001 rules of two agents',
    { agents: { a: { rules: many(500, () => 1) }, b: { rules: many(501, () => 1) } } },
    tooManyRules,
  ],
  [
    '1,000 globs in one rule',
    { rules: [{ args: Object.fromEntries(many(1_000, (i) => [`a${i}`, '*'])) }] },
    tooManyRules,
  ],
  [
    'patterns of redaction that repeat',
    { redact: { patterns: many(10, () => ({ name: 'A', pattern: `((x{10}){10}){10}${'y{1000}'.repeat(60)}` })) } },
    tooMuchWork,
  ],
  ['1,050 names', { rules: many(21, () => ({ ask: { one_of_each: many(50, () => 'group:a') } })) }, tooManyNames],
  ['names in steps', { rules: [{ ask: { escalate: many(21, () => ({ to: many(50, () => 'a') })) } }] }, tooManyNames],
  [
    '102 steps of escalation',
    { rules: many(6, () => ({ ask: { escalate: many(17, () => 1) } })) },
    'it has 102 steps of escalation, and may have 100',
  ],
  [
    '100 conditions of 1,000 characters',
    { rules: many(100, () => when('true || '.repeat(124) + 'true')) },
    tooMuchWork,
  ],
  ['thirty copies of a thousand', { rules: many(30, () => when('args.to.matches("((a{10}){10}){10}")')) }, tooMuchWork],
  [
    'one that no ruling could afford',
    { rules: [when(`args.to.matches("(${'[a-z]'.repeat(50)}){1000}")`)] },
    tooMuchWork,
  ],
])('the policy of a run is refused before it is read: %s', (_, document, what, path = 'rules') => {
  const message = `the policy of a run is too large: ${what}; larger ones belong in the policy of the agent`;
  expect(parseRunPolicy(document)).toEqual({ problems: [{ path, message }] });
});

test.each<[string, object]>([
  ['1,000 rules', { rules: many(1_000, (index) => ({ pattern: `tool-${index}`, action })) }],
  ['200,000 characters', { rules: [], x: 'x'.repeat(200_000 - 19) }],
  ['100 steps of escalation', { rules: many(10, () => ({ ask: { escalate: many(10, () => 1) } })) }],
  ['1,000 names', { rules: many(20, () => ({ ask: { reviewers: many(50, () => 'a') } })) }],
  ['a condition of the greatest length and size', { rules: [when('true'.padEnd(19_998))] }],
  ['a step that is null', { rules: [{ ask: { escalate: [null] } }] }],
  ['a pattern of redaction that is missing', { redact: { patterns: [{ name: 'A' }] } }],
  [
    'usual conditions',
    { rules: many(200, (index) => when(`args.amount > ${index}.0 && args.to.matches("^[a-z]{1,64}$")`)) },
  ],
])('what costs little enough is read: %s', (_, document) => {
  expect(parseRunPolicy(document)).toEqual(parsePolicy(document));
});

test('its examples are not tried, and those of a file are', () => {
  const document = { rules: [{ pattern: 'pay:x', action: 'deny', examples: { match: ['y'] } }] };
  expect(parseRunPolicy(document)).toHaveProperty('policy');
  expect(parsePolicy(document)).toHaveProperty('problems');
});
