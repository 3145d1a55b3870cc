import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { policyJsonSchema } from '../../src/policy-file/json-schema.ts';
import { readPolicyText } from '../../src/policy-file/text.ts';

const stored = JSON.parse(readFileSync(new URL('../../schema/policy.schema.json', import.meta.url), 'utf8')) as object;
const valid = new Ajv2020({ strict: false }).compile(stored);
const manual = ['policy', 'policy-reference']
  .map((page) => readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8'))
  .join('\n');
const valueOf = (text: string): unknown => {
  const read = readPolicyText(text);
  return 'value' in read ? read.value : undefined;
};

test('the stored schema matches the code: npm run schema', () => expect(stored).toEqual(policyJsonSchema()));

describe('every policy of the manual', () => {
  const policies = [...manual.matchAll(/^```yaml *(?:ceiling|people)?\n(.*?)^```/gms)].map(([, text]) => text!);
  test('many are found', () => expect(policies.length).toBeGreaterThan(10));
  test.each(policies)('%s', (text) => expect([valid(valueOf(text)), valid.errors]).toEqual([true, null]));
});

test.each([
  ['an unknown key', { rule: [] }],
  ['an unknown mode', { mode: 'yolo' }],
  ['an unknown action', { rules: [{ pattern: 'a', action: 'permit' }] }],
  ['a missing pattern', { rules: [{ action: 'ask' }] }],
  ['a grant kind', { rules: [{ pattern: 'a', action: 'ask', ask: { always: true } }] }],
  ['too many pending', { approval: { max_pending: 51 } }],
])('%s is refused', (_, document) => expect(valid(document)).toBe(false));
