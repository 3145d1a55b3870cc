import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultAssessment, joinAssessments, type Assessment } from '../../../src/core/assess/assessment.ts';
import type { Severity } from '../../../src/core/base/tool-call.ts';
import { emptyLedger } from '../../../src/core/ledger/ledger-state.ts';
import { compileRules, ruleCase } from '../../../src/core/ledger/rule-case.ts';
import {
  advisorsOf,
  adviseRuling,
  raise,
  raisedBy,
  stricterRuling,
  type Advice,
} from '../../../src/core/policy/advice.ts';
import type { AdvisorSettings, Policy, PolicyLayers } from '../../../src/core/policy/policy.ts';
import type { AskingRule, Ruling } from '../../../src/core/policy/ruling.ts';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import { least, runs } from '../../support/thorough.ts';

/** What advice makes of a ruling, whoever wrote the policies. */

const policyOf = (document: object, ceiling = false): Policy => {
  const parsed = parsePolicy(document, { ceiling });
  if ('problems' in parsed) throw new Error(parsed.problems[0]!.message);
  return parsed.policy;
};
const approving = { name: 'a', may_approve: true };
const asking = (advisor?: object | false, ask: object = {}) =>
  policyOf({ rules: [{ pattern: 'pay', action: 'ask', ask: { ...ask, ...(advisor !== undefined && { advisor }) } }] });
const approval: Advice = { advisor: 'a', answer: 'approve' };
const denial: Advice = { advisor: 'b', answer: 'deny', reason: 'No.' };

const actionOf = (layers: PolicyLayers, advice: Advice[], risk: 'write' | 'destructive' | 'unknown' = 'write') => {
  const call = { tool: 'pay', args: {}, risk, digest: '', advice, assessed: defaultAssessment('read_only') };
  return ruleCase(compileRules(layers), call, { agent: 'x' }, emptyLedger(1), 0).ruling.action;
};

test.each<[string, PolicyLayers, Advice[], string]>([
  ['the run asks and says the words', { run: asking(approving) }, [approval], 'allow'],
  ['it does not say them', { run: asking({ name: 'a' }) }, [approval], 'ask'],
  ['the ceiling asks without an advisor', { ceiling: asking(), run: asking(approving) }, [approval], 'ask'],
  ['the ceiling asks without the words', { ceiling: asking({ name: 'a' }), run: asking(approving) }, [approval], 'ask'],
  ['the ceiling says no advisor', { ceiling: asking(false), run: asking(approving) }, [approval], 'ask'],
  ['a run above asks', { parents: [asking()], run: asking(approving) }, [approval], 'ask'],
  ['both say the words', { ceiling: asking(approving), run: asking(approving) }, [approval], 'allow'],
  [
    'the ceiling alone asks, and says them',
    { ceiling: asking(approving), run: policyOf({ rules: [{ pattern: '*', action: 'allow' }] }) },
    [approval],
    'allow',
  ],
  [
    'its advisor did not answer',
    { ceiling: asking({ ...approving, name: 'b' }), run: asking(approving) },
    [approval],
    'ask',
  ],
  [
    'another advisor that is named denies',
    { ceiling: asking({ name: 'b' }), run: asking(approving) },
    [approval, denial],
    'deny',
  ],
  ['another that nobody names any more denies', { run: asking(approving) }, [denial, approval], 'allow'],
  [
    'a denial where the rules allow',
    { run: policyOf({ rules: [{ pattern: 'pay', action: 'allow' }], advisor: { name: 'b' } }) },
    [denial],
    'allow',
  ],
  [
    'a policy that denies',
    { run: policyOf({ rules: [{ pattern: 'pay', action: 'deny' }], advisor: approving }) },
    [approval],
    'deny',
  ],
  [
    'the advisor of the policy, for a risk default',
    { run: policyOf({ rules: [], advisor: approving }) },
    [approval],
    'allow',
  ],
  [
    'the same for named people',
    { run: { ...asking(undefined, { quorum: 2 }), advisor: { name: 'a', mayApprove: true } } },
    [approval],
    'ask',
  ],
  ['the rule of named people itself', { run: asking(approving, { quorum: 2 }) }, [approval], 'allow'],
  [
    'a rule that cannot be evaluated',
    {
      run: policyOf({
        rules: [{ pattern: 'pay', when: 'args.amount > 5', action: 'ask', ask: { advisor: approving } }],
        advisor: approving,
      }),
    },
    [approval],
    'ask',
  ],
])('%s', (_, layers, advice, action) => {
  expect(actionOf(layers, advice)).toBe(action);
});

test.each(['destructive', 'unknown'] as const)('no advisor approves a call of risk %s', (risk) => {
  const policy = policyOf({ rules: [{ pattern: '*', action: 'ask', ask: { advisor: approving } }] });
  expect(actionOf({ ceiling: policy }, [approval], risk)).toBe('ask');
});

const rule = (advisor?: AdvisorSettings | false, others: Partial<AskingRule> = {}): AskingRule => ({
  rule: 'mail',
  layer: 'run',
  ...(advisor !== undefined && { advisor }),
  ...others,
});
const ruled = (by: AskingRule[] | undefined, others: Partial<Ruling> = {}): Ruling => ({
  action: 'ask',
  rule: 'mail',
  layer: 'run',
  severity: 'medium',
  engine: 1,
  ...(by && { ask: { always: 'tool', by } }),
  ...others,
});

test.each<[string, Ruling, object[]]>([
  ['nothing asks', ruled([rule({ name: 'a' })], { action: 'deny' }), []],
  ['no terms', ruled(undefined), []],
  ['no advisor, and none wanted', ruled([rule(), rule(false)]), []],
  ['the default time', ruled([rule({ name: 'a' })]), [{ name: 'a', timeoutMs: 30_000 }]],
  [
    'the longest time of each',
    ruled([
      rule({ name: 'a', timeoutMs: 10 }),
      rule({ name: 'b', timeoutMs: 5 }),
      rule({ name: 'a', timeoutMs: 20 }),
      rule({ name: 'a', timeoutMs: 15 }),
    ]),
    [
      { name: 'a', timeoutMs: 20 },
      { name: 'b', timeoutMs: 5 },
    ],
  ],
])('who is asked: %s', (_, ruling, expected) => expect(advisorsOf(ruling)).toEqual(expected));

describe('a raised severity', () => {
  const rates = (advisor: string, severity?: Severity): Advice => ({
    advisor,
    answer: 'ask',
    ...(severity && { severity }),
  });
  test.each<[string, Advice[], object | undefined]>([
    ['no advice', [], undefined],
    ['none rates it', [rates('a'), rates('b')], undefined],
    ['one does', [rates('a'), rates('b', 'low'), rates('c')], { advisor: 'b', severity: 'low' }],
    ['the highest', [rates('a', 'low'), rates('b', 'high'), rates('c', 'medium')], { advisor: 'b', severity: 'high' }],
    ['the first of equals', [rates('a', 'high'), rates('b', 'high')], { advisor: 'a', severity: 'high' }],
  ])('%s', (_, advice, expected) => expect(raisedBy(advice)).toStrictEqual(expected));

  const low: Assessment = { ...joinAssessments([]), severity: 'low', reasons: ['it is small'] };
  test('nothing, the same and a lower one change nothing', () => {
    expect(raise(low, undefined)).toBe(low);
    expect(raise(low, { advisor: 'a', severity: 'low' })).toBe(low);
    expect(raise(low, { advisor: 'a', severity: 'safe' })).toBe(low);
  });
  test('a higher one says who gave it, and may want approval', () => {
    const severe = { ...low, severity: 'high', reasons: ['it is small', 'advisor a says high'] };
    expect(raise(low, { advisor: 'a', severity: 'high' })).toStrictEqual({ ...severe, requiresApproval: true });
    const safe: Assessment = { ...low, severity: 'safe' };
    expect(raise(safe, { advisor: 'a', severity: 'low' })).toMatchObject({ severity: 'low', requiresApproval: false });
    const wanted: Assessment = { ...safe, requiresApproval: true };
    expect(raise(wanted, { advisor: 'a', severity: 'low' }).requiresApproval).toBe(true);
  });

  const [people, colleague] = [rule(undefined, { quorum: 2 }), rule(undefined, { layer: 'ceiling' })];
  test.each<[string, Ruling, Ruling, Ruling]>([
    [
      'a denial before stays',
      ruled(undefined, { action: 'deny' }),
      ruled([people], { severity: 'high' }),
      ruled(undefined, { action: 'deny', severity: 'high' }),
    ],
    ['an ask before stays', ruled([people]), ruled(undefined, { action: 'allow' }), ruled([people])],
    ['an ask after counts', ruled(undefined, { action: 'allow' }), ruled([people]), ruled([people])],
    [
      'a denial after counts',
      ruled([people]),
      ruled(undefined, { action: 'deny' }),
      ruled(undefined, { action: 'deny' }),
    ],
    [
      'both allow',
      ruled(undefined, { action: 'allow', rule: null }),
      ruled(undefined, { action: 'allow' }),
      ruled(undefined, { action: 'allow' }),
    ],
    ['both ask, without terms', ruled(undefined, { rule: null }), ruled(undefined), ruled(undefined)],
    ['only the one before has terms', ruled([people]), ruled(undefined), ruled([people])],
    ['both ask: all of both', ruled([people, colleague]), ruled([colleague]), ruled([colleague, people])],
    [
      'both ask: the narrower grant',
      ruled(undefined, { ask: { always: 'call', by: [people] } }),
      ruled([people]),
      ruled(undefined, { ask: { always: 'call', by: [people] } }),
    ],
  ])('%s', (_, before, after, expected) => expect(stricterRuling(before, after)).toStrictEqual(expected));
});

test('an advisor approves no call that a reviewer denied before', () => {
  const call = { tool: 'pay', args: {}, risk: 'write' as const, digest: 'd', advice: [approval] };
  const rules = compileRules({ run: asking(approving) });
  const ledger = emptyLedger(1);
  const actionAfter = (digest: string) =>
    ruleCase(
      rules,
      { ...call, assessed: defaultAssessment('read_only') },
      {},
      { ...ledger, denied: { byTool: { pay: 1 }, calls: [{ digest, isPast: true }] } },
      0,
    ).ruling.action;
  expect([actionAfter('d'), actionAfter('other')]).toEqual(['ask', 'allow']);
});

describe('what becomes of an ask', () => {
  const write = { risk: 'write', reversible: true } as const;
  const [mayApprove, mayNot] = [rule({ name: 'a', mayApprove: true }), rule({ name: 'b' })];
  test('nothing without advice: the same ruling', () => {
    const ruling = ruled([mayApprove]);
    expect(adviseRuling(ruling, [], write)).toBe(ruling);
    expect(adviseRuling(ruled(undefined), [approval], write)).toEqual(ruled(undefined));
  });

  test('whoever decides is named', () => {
    expect(adviseRuling(ruled([mayApprove]), [approval], write)).toStrictEqual({
      action: 'allow',
      rule: 'a',
      layer: 'advisor',
      reason: 'Advisor a approves this call',
      severity: 'medium',
      engine: 1,
    });
    // What a reviewer has denied before, a reviewer is asked about.
    const denied = { ...write, wasDenied: true };
    expect(adviseRuling(ruled([mayApprove]), [approval], denied)).toEqual(ruled([mayApprove]));
    expect(adviseRuling(ruled([mayApprove, mayNot]), [approval, denial], write)).toMatchObject({
      action: 'deny',
      rule: 'b',
      layer: 'advisor',
      reason: 'Advisor b denies this call: No.',
    });
  });

  /** A second version of the rule, as docs/advisors.md states it. */
  const expectedAction = (ruling: Ruling, advice: Advice[], call: Parameters<typeof adviseRuling>[2]): string => {
    if (ruling.action !== 'ask') return ruling.action;
    const rules = ruling.ask?.by ?? [];
    const names = rules.map(({ advisor }) => (advisor ? advisor.name : undefined));
    const heard = advice.filter(({ advisor }) => names.includes(advisor));
    for (const { answer } of heard) if (answer === 'deny') return 'deny';
    if (rules.length === 0 || !['read_only', 'write'].includes(call.risk) || !call.reversible) return 'ask';
    for (const { answer } of heard) if (answer === 'ask') return 'ask';
    for (const { advisor } of rules) {
      if (!advisor || !advisor.mayApprove) return 'ask';
      if (!heard.some((each) => each.advisor === advisor.name)) return 'ask';
    }
    return 'allow';
  };
  const name = fc.constantFrom('a', 'a', 'b', 'c');
  const settings = fc.record(
    { name, mayApprove: fc.constantFrom(true, true, true, true, false) },
    { requiredKeys: ['name'] },
  );
  const asker = fc.option(fc.oneof(fc.constant(false as const), ...Array.from({ length: 7 }, () => settings)), {
    nil: undefined,
    freq: 9,
  });
  const ruling = fc
    .record({
      by: fc.option(
        fc.array(
          asker.map((advisor) => rule(advisor)),
          { maxLength: 3 },
        ),
        { nil: undefined, freq: 9 },
      ),
      action: fc.constantFrom('ask' as const, 'ask' as const, 'ask' as const, 'allow' as const, 'deny' as const),
    })
    .map(({ by, action }) => ruled(by, { action }));
  const answers = fc.constantFrom(...(['approve', 'approve', 'approve', 'approve', 'ask', 'deny'] as const));
  const advice = fc
    .record({ a: answers, b: answers, c: answers }, { requiredKeys: ['a'] })
    .map((given) => Object.entries(given).map(([advisor, answer]): Advice => ({ advisor, answer })));
  const call = fc.record({
    risk: fc.constantFrom(
      'read_only' as const,
      'write' as const,
      'write' as const,
      'destructive' as const,
      'unknown' as const,
    ),
    reversible: fc.constantFrom(true, true, true, false),
  });
  test('the same as a second version of the rule says', () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(ruling, advice, call, (before, given, of) => {
        const { action } = adviseRuling(before, given, of);
        expect(action).toBe(expectedAction(before, given, of));
        const way = `${before.action} ${action}`;
        seen.set(way, (seen.get(way) ?? 0) + 1);
      }),
      { numRuns: runs(3_000) },
    );
    expect([...seen].filter(([, times]) => times > least(20)).map(([way]) => way)).toEqual(
      expect.arrayContaining(['ask allow', 'ask ask', 'ask deny', 'allow allow', 'deny deny']),
    );
  });
});
