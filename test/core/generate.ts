/** Random policies and calls that often match: few tools, few arguments, overlapping patterns. */
import fc from 'fast-check';
import { modes, actions } from '../../src/core/policy/modes.ts';
import { grantKinds, type Policy, type PolicyLayers, type Rule } from '../../src/core/policy/policy.ts';
import type { RuledCall } from '../../src/core/policy/ruling.ts';
import { risks } from '../../src/core/base/tool-call.ts';
import { splitShell } from '../../src/shell/split.ts';

const action = fc.constantFrom(...actions);
const name = fc.constantFrom('read', 'send', 'send_mail', 'drop', '*', 'send*', '*_mail', 'd*p', 'se*d*');
const args = fc.constantFrom('', '*', 'a', 'a*', '*b', 'a/*', '*"x":1*', '{*}', 'true', '{"to":"*');

/** Conditions and their meaning: true, false, or undefined if the condition cannot be evaluated. */
export const conditions: Record<string, (call: RuledCall, agent: string) => boolean | undefined> = {
  'args.x == 1': ({ args }) => (Object.hasOwn(args, 'x') ? args['x'] === 1 : undefined),
  'has(args.to) && risk == "write"': ({ args, risk }) => Object.hasOwn(args, 'to') && risk === 'write',
  'tool.startsWith("send")': ({ tool }) => tool.startsWith('send'),
  'agent == "ops"': (_, agent) => agent === 'ops',
};

const often = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const rarely = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

export const rule: fc.Arbitrary<Rule> = fc
  .record({
    name,
    args: often(args),
    fields: rarely(
      fc.dictionary(fc.constantFrom('to', 'x'), fc.constantFrom('a', 'a*', '*', '1'), {
        minKeys: 1,
        maxKeys: 2,
        noNullPrototype: true,
      }),
    ),
    when: rarely(fc.constantFrom(...Object.keys(conditions))),
    agent: rarely(fc.constantFrom('ops', 'web')),
    always: rarely(fc.constantFrom(false as const, ...grantKinds)),
    action,
  })
  .map(({ name, args, fields, when, agent, always, action }) => ({
    pattern: args === undefined ? name : `${name}:${args}`,
    action,
    ...(fields !== undefined && { args: fields }),
    ...(when !== undefined && { when }),
    ...(agent !== undefined && { agent }),
    ...(always !== undefined && { ask: { always } }),
  }));

export const policy: fc.Arbitrary<Policy> = fc.record({
  version: fc.constant(1 as const),
  rules: fc.array(rule, { maxLength: 6 }),
  riskDefaults: fc.record({ read_only: action, write: action, destructive: action }, { requiredKeys: [] }),
  approval: fc.constant({}),
});

export const modedPolicy: fc.Arbitrary<Policy> = fc
  .record({ policy, mode: fc.constantFrom(...modes) })
  .map(({ policy, mode }) => ({ ...policy, mode }));

export const layers: fc.Arbitrary<PolicyLayers> = fc.record(
  {
    ceiling: fc.oneof(policy, modedPolicy),
    parents: fc.array(fc.oneof(policy, modedPolicy), { maxLength: 2 }),
    run: fc.oneof(policy, modedPolicy),
  },
  { requiredKeys: [] },
);

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

/** A call of a shell tool. Its command is nothing but words, so the split is certain and has one part. */
export const shellCall: fc.Arbitrary<RuledCall> = fc
  .record({
    call,
    command: fc.constantFrom('a', 'ab', 'b', 'a b', 'true'),
    beside: fc.subarray(['x', 'y']),
  })
  .map(({ call: { args, ...others }, command, beside }) => ({
    ...others,
    args: { ...args, to: command },
    subject: 'to',
    shell: splitShell(command),
    beside,
  }));

export const agent = fc.constantFrom('ops', 'web', 'other');
