/** A compiled policy caches data between rulings, which makes rulings fast and changes none. */
import { describe, expect, test } from 'vitest';
import { compilePolicy } from '../../../src/core/policy/compiled-policy.ts';
import { callSubjects } from '../../../src/core/match/matching.ts';
import type { Rule } from '../../../src/core/policy/policy.ts';
import { compileLayers, evaluate } from '../../../src/core/policy/ruling.ts';

const policyOf = (...rules: Rule[]) => ({ version: 1 as const, rules, riskDefaults: {}, approval: {} });
const compiled = (...rules: Rule[]) => compilePolicy(policyOf(...rules), 'run');
const named = (tool: string) => callSubjects({ tool, args: {} });
const rule = (pattern: string, more: Partial<Rule> = {}): Rule => ({ pattern, action: 'allow', ...more });

test('a compiled rule contains exactly what was written', () => {
  const [plain, full] = compiled(rule('a'), rule('b:c', { reason: 'r', ask: {}, agent: 'ops', when: 'true' })).rules;
  expect(Object.keys(plain!).toSorted()).toEqual(['action', 'fields', 'id', 'layer', 'pattern']);
  expect(Object.keys(full!).toSorted()).toEqual([
    'action',
    'agent',
    'ask',
    'condition',
    'fields',
    'id',
    'layer',
    'pattern',
    'reason',
  ]);
});

test('each layer has its own ids', () => {
  const one = policyOf(rule('a'));
  const { ceiling, parents, run } = compileLayers({ ceiling: one, parents: [one, one], run: one });
  const ids = [ceiling!, ...parents!, run!].flatMap(({ rules }) => rules.map(({ id, layer }) => [id, layer]));
  expect(ids).toEqual([
    ['ceiling#1', 'ceiling'],
    ['parent#1', 'parent'],
    ['parent#1', 'parent'],
    ['run#1', 'run'],
  ]);
  expect(compileLayers({})).toStrictEqual({});
  const agents = { ...one, rules: [{ ...rule('a'), layer: 'agent' as const }] };
  expect(compilePolicy(agents, 'run').rules[0]).toMatchObject({ id: 'agent#1', layer: 'agent' });
  expect(compilePolicy(agents, 'parent').rules[0]).toMatchObject({ id: 'parent#1', layer: 'parent' });
});

describe('candidates', () => {
  test('a name is matched once', () => {
    const policy = compiled(rule('a*'), rule('b'));
    expect(policy.candidates(named('ab')).all.map(({ rule: { id } }) => id)).toEqual(['run#1']);
    expect(policy.candidates(named('ab'))).toBe(policy.candidates(named('ab')));
    expect(policy.candidates(named('ab'))).not.toBe(policy.candidates(named('ac')));
  });

  // The mapped name has one additional character.
  test.each([
    [255, true],
    [256, false],
  ])('a name of %i characters is cached: %s', (length, kept) => {
    const policy = compiled(rule('*'));
    const first = policy.candidates(named('n'.repeat(length)));
    expect(policy.candidates(named('n'.repeat(length))) === first).toBe(kept);
  });

  test('a name that cannot be matched is not cached', () => {
    const policy = compiled(rule('*'));
    const odd = policy.candidates(named('\ufdd0'));
    expect(odd.all[0]?.named).toHaveProperty('problem');
    expect(policy.candidates(named('\ufdd0'))).not.toBe(odd);
  });

  test.each([
    [199, true],
    [200, false],
  ])('after %i other names, a name is still cached: %s', (others, kept) => {
    const policy = compiled(rule('*'));
    const first = policy.candidates(named('first'));
    for (let index = 0; index < others; index += 1) policy.candidates(named(`n${index}`));
    expect(policy.candidates(named('first')) === first).toBe(kept);
    if (kept) return;
    // The names after it are forgotten too, but new ones are kept.
    expect(policy.candidates(named('first'))).toBe(policy.candidates(named('first')));
  });

  test('the total length of all argument patterns', () => {
    const policy = compiled(rule('a'), rule('a:four'), rule('*:sixsix'), rule('b:other'), rule('[z-a]:c'));
    expect(policy.candidates(named('a')).argsLength).toBe(10);
  });

  test('sixteen candidates get an index at their twentieth use, and keep it', () => {
    const { index } = compiled(...Array.from({ length: 16 }, (_, each) => rule(`a:word${each}`))).candidates(
      named('a'),
    );
    expect(Array.from({ length: 19 }, index).filter((each) => each !== undefined)).toEqual([]);
    const made = index();
    expect(made).toBeDefined();
    expect(index()).toBe(made);
  });
});

describe('a rule with a part that cannot be evaluated', () => {
  const asks = (rules: Rule[], context = {}, args = {}) =>
    evaluate({ run: compiled(...rules) }, { tool: 'a', args, risk: 'read_only', subject: 's' }, context);

  test.each<[string, Rule, object, object, string | null]>([
    ['its agent is not known, and its arguments match', rule('a:x', { agent: 'ops' }), {}, { s: 'x' }, 'run.ops#1'],
    ['its agent is not known, but its arguments do not match', rule('a:x', { agent: 'ops' }), {}, { s: 'y' }, null],
    [
      'its agent is not known, but a field does not match',
      rule('a', { agent: 'ops', args: { s: 'x' } }),
      {},
      { s: 'y' },
      null,
    ],
    ['its agent is not known, but its condition is false', rule('a', { agent: 'ops', when: 'false' }), {}, {}, null],
    ['its agent is not known, and its condition holds', rule('a', { agent: 'ops', when: 'true' }), {}, {}, 'run.ops#1'],
    ['it is another agent’s', rule('a', { agent: 'ops', args: { s: '[z-a]' } }), { agent: 'web' }, {}, null],
    ['its pattern is none', rule('[z-a]'), {}, {}, 'run#1'],
    ['a field’s glob is none', rule('a', { args: { s: '[z-a]' } }), {}, { s: 'x' }, 'run#1'],
    [
      'a field’s glob is none, but another does not match',
      rule('a', { args: { s: '[z-a]', t: 'x' } }),
      {},
      { s: 'x', t: 'y' },
      null,
    ],
    ['its condition is none', rule('a', { when: 'args.' }), {}, {}, 'run#1'],
  ])('%s', (_, each, context, args, expected) => {
    const { action, rule, reason = '' } = asks([{ ...each, action: 'ask' }], context, args);
    expect([action, rule]).toEqual(expected === null ? ['allow', null] : ['ask', expected]);
    if (expected !== null) expect(reason).toContain('cannot be evaluated');
  });

  test.each<[string, string | undefined, string]>([
    ['one argument', 's', "argument 's': the text holds U+FDD0, which is reserved"],
    ['all of them', undefined, 'the arguments: the text holds U+FDD0, which is reserved'],
  ])('the reason names the arguments that could not be matched: %s', (_, subject, problem) => {
    const call = {
      tool: 'a',
      args: { s: '\ufdd0' },
      risk: 'read_only' as const,
      ...(subject !== undefined && { subject }),
    };
    const { reason } = evaluate({ run: compiled(rule('a:x', { action: 'ask' })) }, call);
    expect(reason).toBe(`rule run#1 cannot be evaluated: ${problem}`);
  });
});
