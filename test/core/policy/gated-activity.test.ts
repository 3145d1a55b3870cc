import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { canonicalJson } from '../../../src/core/base/canonical-json.ts';
import {
  gatedArguments,
  gatedDefinition,
  gatedValues,
  renewedDefinition,
  withDeclaredRisk,
} from '../../../src/core/policy/gated-activity.ts';
import type { Json, JsonObject, Risk, ToolDefinition } from '../../../src/core/base/tool-call.ts';
import { parseJson } from '../../../src/core/base/json.ts';

const named = { name: 'refund', argumentNames: ['orderId', 'amount'] };
const unnamed = { name: 'refund' };

describe('the risk of a definition', () => {
  const withRisk = (risk: Risk): ToolDefinition => ({ name: 'refund', risk }) as ToolDefinition;

  test.each<[before: Risk, now: Risk, kept: Risk]>([
    ['read_only', 'unknown', 'unknown'],
    ['unknown', 'read_only', 'unknown'],
    ['unknown', 'write', 'write'],
    ['write', 'unknown', 'write'],
    ['destructive', 'read_only', 'destructive'],
    ['read_only', 'destructive', 'destructive'],
  ])('before %s, changed to %s: it is %s', (before, now, kept) => {
    expect(renewedDefinition(withRisk(now), withRisk(before)).risk).toBe(kept);
  });

  test.each<[declared: Risk, own: Risk, recorded: Risk]>([
    ['unknown', 'read_only', 'read_only'],
    ['read_only', 'unknown', 'read_only'],
    ['write', 'read_only', 'write'],
    ['read_only', 'write', 'write'],
  ])('declared %s in the workflow, %s on the worker: it is %s', (declared, own, recorded) => {
    expect(withDeclaredRisk(withRisk(own), withRisk(declared)).risk).toBe(recorded);
  });
});

describe('arguments as one object', () => {
  test.each<[string, object, unknown[], object]>([
    ['by their names', named, ['o-17', 20], { orderId: 'o-17', amount: 20 }],
    ['left out', named, ['o-17'], { orderId: 'o-17' }],
    ['undefined', named, [undefined, 20], { amount: 20 }],
    ['by position', unnamed, ['o-17', 20], { $1: 'o-17', $2: 20 }],
    ['one that is an object', unnamed, [{ orderId: 'o-17' }], { orderId: 'o-17' }],
    ['one that is an object, with a name', { ...named, argumentNames: ['order'] }, [{ id: 1 }], { order: { id: 1 } }],
    ['one that is an empty object', unnamed, [{}], { $1: {} }],
    ['one that looks like a list', unnamed, [{ $1: 'a' }], { $1: { $1: 'a' } }],
    ['one that is a list', unnamed, [['a']], { $1: ['a'] }],
    ['none', unnamed, [], {}],
    [
      'what JSON makes of them',
      unnamed,
      [new Date(0), { a: undefined, b: -0 }],
      { $1: '1970-01-01T00:00:00.000Z', $2: { b: 0 } },
    ],
  ])('%s', (_name, activity, given, args) => {
    expect(gatedArguments(activity as typeof named, given)).toMatchObject({ args });
  });

  test.each<[string, unknown[], string]>([
    ['too many', ['o-17', 20, 1], `'refund' is declared with 2 arguments and was called with 3`],
    ['bytes', [Buffer.from('a')], `argument 1 of 'refund' is bytes, which reviewers cannot read: pass text`],
    ['a function', ['a', () => 1], `argument 2 of 'refund' is not JSON`],
    ['a big integer', [1n], `argument 1 of 'refund' is not JSON: Do not know how to serialize a BigInt`],
  ])('%s: reported in one sentence', (_name, given, problem) => {
    expect(gatedArguments(named, given)).toEqual({ problem });
  });
});

const value = fc.jsonValue() as fc.Arbitrary<Json>;
const lists = fc.array(fc.oneof(value, fc.record({ $1: value }, { requiredKeys: [] })), { maxLength: 3 });
const shown = (given: Json[]): string => {
  const read = gatedArguments(unnamed, given);
  return 'args' in read ? canonicalJson(read.args) : 'none';
};

test('different argument lists are shown differently, so that one digest is one call', () => {
  fc.assert(
    fc.property(lists, lists, (one, other) => {
      expect(shown(one) === shown(other)).toBe(canonicalJson(one) === canonicalJson(other));
    }),
  );
});

test('the shown arguments convert back to the same list', () => {
  fc.assert(
    fc.property(lists, (given) => {
      const read = gatedArguments(unnamed, given);
      if (!('args' in read)) throw new Error(read.problem);
      expect(gatedValues(unnamed, read.args)).toEqual({ values: parseJson(JSON.stringify(given)) });
    }),
  );
});

describe('edited arguments', () => {
  test.each<[string, object, JsonObject, object]>([
    ['by their names', named, { amount: 7 }, { values: [undefined, 7] }],
    ['by position, with a gap', unnamed, { $2: 'b' }, { values: [undefined, 'b'] }],
    ['an unknown name', named, { sum: 7 }, { problem: `'refund' has no argument 'sum'` }],
    ['a name among positions', unnamed, { $1: 'a', sum: 7 }, { problem: `'refund' has no argument 'sum'` }],
    ['a position that no list has', unnamed, { $999999999: 1 }, { problem: `'refund' has no argument '$999999999'` }],
    ['a name that every object has', named, { toString: 1 }, { problem: `'refund' has no argument 'toString'` }],
  ])('%s', (_name, activity, args, values) => {
    expect(gatedValues(activity as typeof named, args)).toEqual(values);
  });
});

test('a definition contains the declaration, with the defaults of a tool', () => {
  expect(gatedDefinition('pay', {})).toMatchObject({ risk: 'write', idempotent: false, heartbeatTimeoutMs: 30_000 });
  expect(gatedDefinition('pay', { heartbeat: false })).toMatchObject({ heartbeatTimeoutMs: null });
  expect(gatedDefinition('run', { subject: { argument: 'command', shell: true } })).toMatchObject({
    subject: 'command',
    shellSubject: true,
  });
  const { definition } = gatedDefinition('pay', { arguments: ['to'] });
  expect(gatedDefinition('pay', { arguments: ['from'] }).definition).not.toBe(definition);
});

test('a reviewer may write more members than a call has parameters', () => {
  const args = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`$${index + 1}`, 1]));
  expect(gatedValues({ name: 'pay', argumentNames: undefined }, args)).toEqual({
    problem: `'pay' has no argument '$101'`,
  });
});
