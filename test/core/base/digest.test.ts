import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import fc from 'fast-check';
import { canonicalJson, canonicalJsonProblem, maxCanonicalDepth } from '../../../src/core/base/canonical-json.ts';
import { callDigest, definitionDigest } from '../../../src/core/base/digest.ts';
import { policyDigest, type Policy } from '../../../src/core/policy/policy.ts';
import type { Json, JsonObject } from '../../../src/core/base/tool-call.ts';

const byNode = (value: Json): string => createHash('sha256').update(canonicalJson(value)).digest('hex');
const definition = definitionDigest({ name: 'move', description: 'Moves a file', schema: { type: 'object' } });

test('known digests never change: other languages compute them too', () => {
  expect(definition).toBe(byNode({ description: 'Moves a file', name: 'move', schema: { type: 'object' } }));
  expect(callDigest({ tool: 'move', args: { to: 'b', from: 'a' }, definition: '' })).toBe(
    createHash('sha256').update('{"arguments":{"from":"a","to":"b"},"definition":"","tool":"move"}').digest('hex'),
  );
});

test('random calls and definitions have the digest that node:crypto computes', () => {
  const json = fc.jsonValue({ noUnicodeString: false }).map((value) => value as Json);
  fc.assert(
    fc.property(json, fc.string(), fc.string(), (value, tool, description) => {
      fc.pre(canonicalJsonProblem(value) === undefined);
      const args: JsonObject = { value };
      expect(callDigest({ tool, args, definition })).toBe(byNode({ arguments: args, definition, tool }));
      expect(definitionDigest({ name: tool, description, schema: args })).toBe(
        byNode({ description, name: tool, schema: args }),
      );
    }),
  );
});

test('missing parts of a definition count as "" and {}', () => {
  expect(definitionDigest({ name: 'a' })).toBe(definitionDigest({ name: 'a', description: '', schema: {} }));
});

test('tool, arguments and definition each change the digest', () => {
  const digests = [
    callDigest({ tool: 'a', args: { x: 1 }, definition }),
    callDigest({ tool: 'b', args: { x: 1 }, definition }),
    callDigest({ tool: 'a', args: { x: 2 }, definition }),
    callDigest({ tool: 'a', args: { x: 1 }, definition: '' }),
  ];
  expect(new Set(digests).size).toBe(digests.length);
  expect(digests).toEqual(digests.map(() => expect.stringMatching(/^[0-9a-f]{64}$/)));
});

test('arguments of the greatest allowed depth have a digest', () => {
  let args: JsonObject = {};
  for (let level = 1; level < maxCanonicalDepth; level += 1) args = { a: args };
  expect(callDigest({ tool: 't', args, definition })).toHaveLength(64);
  expect(() => callDigest({ tool: 't', args: { a: args }, definition })).toThrow('levels deep');
});

test('a policy digest distinguishes the layers and ignores an absent one', () => {
  const policy: Policy = { version: 1, rules: [], riskDefaults: {}, approval: {} };
  expect(policyDigest({ ceiling: policy })).not.toBe(policyDigest({ run: policy }));
  expect(policyDigest({ ceiling: policy, run: undefined })).toBe(policyDigest({ ceiling: policy }));
});
