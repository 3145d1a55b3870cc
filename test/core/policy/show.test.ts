import { describe, expect, test } from 'vitest';
import type { Policy, PolicyLayers, Show } from '../../../src/core/policy/policy.ts';
import { mergeRunSide, mergeShow, namesToShow } from '../../../src/core/policy/run-side.ts';

const policy = (show?: Show, more: Policy['approval'] = {}): Policy => ({
  version: 1,
  rules: [],
  riskDefaults: {},
  approval: { ...more, ...(show !== undefined && { show }) },
});

describe('the names to show of a call of refund', () => {
  test.each<[string, PolicyLayers, string[] | undefined, string[]]>([
    ['nobody names any', {}, undefined, []],
    ['the tool names some', {}, ['amount'], ['amount']],
    ['the ceiling adds some', { ceiling: policy({ refund: ['to'] }) }, ['amount'], ['amount', 'to']],
    ['not by a glob that is none', { ceiling: policy({ '[z-a]': ['to'], refund: ['n'] }) }, undefined, ['n']],
    ['by a glob', { ceiling: policy({ 're*': ['to'], pay: ['x'] }) }, undefined, ['to']],
    [
      'all policies add up, each name once',
      { ceiling: policy({ refund: ['to'] }), parents: [policy({ '*': ['id'] })], run: policy({ refund: ['to', 'n'] }) },
      ['id'],
      ['id', 'to', 'n'],
    ],
    ['false of the ceiling wins', { ceiling: policy(false), run: policy({ '*': ['to'] }) }, ['amount'], []],
    ['false of a parent wins', { parents: [policy(false)] }, ['amount'], []],
    ['false of the run wins', { ceiling: policy({ '*': ['to'] }), run: policy(false) }, ['amount'], []],
    ['hidden arguments win', { run: policy({ '*': ['to'] }, { includeArguments: false }) }, ['amount'], []],
  ])('%s', (_name, layers, declared, expected) => expect(namesToShow(layers, 'refund', declared)).toEqual(expected));
});

test('the policies of the agent and of the run add up, and false wins', () => {
  const merged = mergeRunSide(policy({ refund: ['to'], '*': ['id'] }), policy({ refund: ['amount'] }));
  expect(merged?.approval.show).toEqual({ refund: ['to', 'amount'], '*': ['id'] });
  expect(mergeRunSide(policy(false), policy({ refund: ['amount'] }))?.approval.show).toBe(false);
  expect(mergeRunSide(policy({ refund: ['amount'] }), policy(false))?.approval.show).toBe(false);
  expect(mergeRunSide(policy({ refund: ['amount'] }), policy())?.approval.show).toEqual({ refund: ['amount'] });
  expect(mergeShow(undefined, undefined)).toBeUndefined();
  expect(mergeShow({ refund: ['to'] }, undefined)).toEqual({ refund: ['to'] });
  expect(mergeRunSide(policy(), policy())?.approval).not.toHaveProperty('show');
});
