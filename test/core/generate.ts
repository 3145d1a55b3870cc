/** Random policies and calls that meet often: few tools, few arguments, overlapping patterns. */
import fc from 'fast-check';
import { actions, type Policy, type PolicyLayers, type Rule } from '../../src/core/policy.ts';
import type { RuledCall } from '../../src/core/ruling.ts';
import { risks } from '../../src/core/tool-call.ts';

const action = fc.constantFrom(...actions);
const name = fc.constantFrom('read', 'send', 'send_mail', 'drop', '*', 'send*', '*_mail', 'd*p', 'se*d*');
const args = fc.constantFrom('', '*', 'a', 'a*', '*b', 'a/*', '*"x":1*', '{*}', 'true', '{"to":"*');

export const rule: fc.Arbitrary<Rule> = fc
  .record({ name, args: fc.option(args, { nil: undefined }), action })
  .map(({ name, args, action }) => ({ pattern: args === undefined ? name : `${name}:${args}`, action }));

export const policy: fc.Arbitrary<Policy> = fc.record({
  version: fc.constant(1 as const),
  rules: fc.array(rule, { maxLength: 6 }),
  riskDefaults: fc.record({ read_only: action, write: action, destructive: action }, { requiredKeys: [] }),
  approval: fc.constant({}),
});

export const layers: fc.Arbitrary<PolicyLayers> = fc.record({ ceiling: policy, run: policy }, { requiredKeys: [] });

const value = fc.constantFrom('', 'a', 'ab', 'a/b', '.', true, 1, ['b', 1]);

export const call: fc.Arbitrary<RuledCall> = fc.record(
  {
    tool: fc.constantFrom('read', 'send', 'send_mail', 'drop', 'other', ''),
    args: fc.dictionary(fc.constantFrom('to', 'x', 'y'), value, { maxKeys: 3, noNullPrototype: true }),
    risk: fc.constantFrom(...risks, 'unknown' as const),
    subject: fc.constantFrom('to', 'x', 'constructor'),
  },
  { requiredKeys: ['tool', 'args', 'risk'] },
);
