import { expect, test } from 'vitest';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import { rulePlace } from '../../../src/core/policy/rule-place.ts';
import { compilePolicy, type Ruling } from '../../../src/core/policy/ruling.ts';

const text = `# the operator's policy
rules:
  - { pattern: a, action: ask }

  - id: b
    pattern: b
    action: ask
agents:
  ops:
    rules:
      - { pattern: c, action: ask }
`;
const parsed = parsePolicy(text);
if ('problems' in parsed) throw new Error('the policy is invalid');
const ceiling = compilePolicy(parsed.policy, 'ceiling');
const known = { file: 'policy.yaml', lines: parsed.lines! };

test.each<[string, Ruling['layer'], string | null, string | undefined]>([
  ['a rule without an id', 'ceiling', 'ceiling#1', 'policy.yaml:3'],
  ['a rule with an id', 'ceiling', 'b', 'policy.yaml:5'],
  ["a rule of an agent's block", 'ceiling', 'ceiling.ops#1', 'policy.yaml:11'],
  ['a rule of the same name in the run', 'run', 'b', undefined],
  ['a rule that the policy does not have', 'ceiling', 'c', undefined],
  ['a risk default', 'default', null, undefined],
])('%s: %s %s', (_name, layer, rule, place) => {
  const ruling: Ruling = { action: 'ask', layer, rule, severity: 'medium', engine: 1 };
  expect(rulePlace(ruling, ceiling, known)).toBe(place);
  expect(rulePlace(ruling, ceiling, undefined)).toBeUndefined();
  expect(rulePlace(ruling, undefined, known)).toBeUndefined();
});
