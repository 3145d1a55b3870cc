import { describe, expect, test } from 'vitest';
import { compilePolicy, evaluate, explain, parsePolicy } from '../../src/index.ts';
import type { CompiledLayers, RuledCall, RulingContext } from '../../src/policy.ts';

const parsed = parsePolicy('rules: [{ pattern: pay, action: deny }]');
if ('problems' in parsed) throw new Error('the policy is invalid');
const denies = compilePolicy(parsed.policy, 'ceiling');
const pay: RuledCall = { tool: 'pay', args: {}, risk: 'write' };

/** As authors without types write them. */
const misspelt = (name: string, value: unknown): object => ({ [name]: value });

describe.each([
  ['evaluate', evaluate],
  ['explain', explain],
])('%s refuses by name what it would not read', (name, rule) => {
  test.each<[string, CompiledLayers, RuledCall, RulingContext, string]>([
    ['a layer', misspelt('celing', denies), pay, {}, "layers: unknown option 'celing': did you mean 'ceiling'?"],
    [
      'a member of the call',
      {},
      { ...pay, ...misspelt('subjet', 'to') },
      {},
      "call: unknown option 'subjet': did you mean 'subject'?",
    ],
    [
      'a member of the context',
      {},
      pay,
      misspelt('agnet', 'a'),
      "context: unknown option 'agnet': did you mean 'agent'?",
    ],
    [
      'a risk',
      {},
      { ...pay, risk: 'high' as never },
      {},
      'call: risk must be one of read_only, write, destructive, unknown',
    ],
  ])('%s', (_, layers, call, context, sentence) => {
    expect(() => rule(layers, call, context)).toThrow(`${name}: ${sentence}`);
  });

  test('and rules on the rest', () => {
    const found = rule(
      { ceiling: denies, parents: [] },
      { ...pay, risk: 'unknown' },
      { agent: 'a', counts: { calls: 1 } },
    );
    expect('ruling' in found ? found.ruling : found).toMatchObject({ action: 'deny', rule: 'ceiling#1' });
  });
});
