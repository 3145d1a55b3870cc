import { describe, expect, test } from 'vitest';
import { askTermsOf, reviewersAt, sameDemands, sameTerms, type AskTerms } from '../../../src/core/policy/ask-terms.ts';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import type { PolicyLayers } from '../../../src/core/policy/policy.ts';
import { compilePolicy, evaluate, type RuledCall } from '../../../src/core/policy/ruling.ts';
import { mergeRunSide } from '../../../src/core/policy/run-side.ts';

const minute = 60_000;
const anyone = { layer: 'run', reviewers: [], quorum: 1, oneOfEach: [], escalate: [] } as const;
const ofCeiling = { ...anyone, layer: 'ceiling' } as const;

function policyOf(document: object, ceiling: boolean) {
  const parsed = parsePolicy(document, { ceiling });
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  return parsed.policy;
}

/** The terms of a call of `pay` under these documents. */
function termsOf(ceiling: object | undefined, run: object | undefined, call: Partial<RuledCall> = {}): AskTerms {
  const policies: PolicyLayers = {
    ...(ceiling && { ceiling: policyOf(ceiling, true) }),
    ...(run && { run: policyOf(run, false) }),
  };
  const layers = {
    ...(policies.ceiling && { ceiling: compilePolicy(policies.ceiling, 'ceiling') }),
    ...(policies.run && { run: compilePolicy(policies.run, 'run') }),
  };
  const asked: RuledCall = { tool: 'pay', args: {}, risk: 'write', ...call };
  const assessment = { severity: 'low' as const, reasons: [], affectedResources: [], recommendations: [] };
  const ruling = evaluate(layers, asked, {
    assessment: { ...assessment, reversible: true, requiresApproval: false },
  });
  expect(ruling.action).toBe('ask');
  return askTermsOf(policies, ruling, asked);
}

const asks = (ask?: object, approval?: object) => ({
  rules: [{ pattern: 'pay', action: 'ask', ...(ask && { ask }) }],
  ...(approval && { approval }),
});
const silent = asks();
const allows = (approval?: object) => ({ rules: [{ pattern: '*', action: 'allow' }], ...(approval && { approval }) });
const none = undefined;

test.each<[string, object | undefined, object | undefined]>([
  ['no policy', none, none],
  ['a risk default', none, {}],
  ['a rule that says nothing', none, silent],
  ['a rule of the ceiling that says nothing', silent, none],
  ['an empty ask', none, asks({})],
])('nothing is set: %s', (_, ceiling, run) => {
  expect(termsOf(ceiling, run)).toEqual({
    timeoutMs: 5 * minute,
    onTimeout: 'deny',
    requirements: [anyone],
    named: false,
    veto: true,
    verified: false,
    allowSelf: false,
    warnBeforeMs: null,
    remindMs: null,
    escalate: [],
    always: 'tool',
  });
});

const ann = { reviewers: ['ann'] };
const finance = { reviewers: ['group:finance'], quorum: 2 };
const cases: [keyof AskTerms, string, object | undefined, object | undefined, unknown][] = [
  ['requirements', 'a rule', none, asks(ann), [{ ...anyone, ...ann }]],
  [
    'requirements',
    'both layers: each its own',
    asks(finance),
    asks(ann),
    [
      { ...ofCeiling, ...finance },
      { ...anyone, ...ann },
    ],
  ],
  [
    'requirements',
    'both layers the same: each by its own directory',
    asks(ann),
    asks(ann),
    [
      { ...ofCeiling, ...ann },
      { ...anyone, ...ann },
    ],
  ],
  ['requirements', 'one layer demands, the other asks anyone', silent, asks(ann), [{ ...anyone, ...ann }]],
  ['requirements', 'the ceiling’s risk default asks too', {}, asks(ann), [{ ...anyone, ...ann }]],
  ['requirements', 'a quorum of anyone', none, asks({ quorum: 2 }), [{ ...anyone, quorum: 2 }]],
  [
    'requirements',
    'one of each',
    none,
    asks({ one_of_each: ['group:a', 'group:b'] }),
    [{ ...anyone, oneOfEach: ['group:a', 'group:b'] }],
  ],
  [
    'requirements',
    'each its own steps',
    asks(ann),
    asks({ reviewers: ['bob'], escalate: [{ after: '1m', to: ['eve'] }] }),
    [
      { ...ofCeiling, ...ann },
      { ...anyone, reviewers: ['bob'], escalate: [{ afterMs: minute, to: ['eve'] }] },
    ],
  ],
  ['requirements', 'a layer that allows demands nothing', allows(), asks(ann), [{ ...anyone, ...ann }]],
  ['named', 'reviewers', none, asks(ann), true],
  ['named', 'a quorum of one', none, asks({ quorum: 1 }), true],
  ['named', 'one of each', none, asks({ one_of_each: ['ann'] }), true],
  ['named', 'one of two rules', asks(ann), silent, true],
  ['named', 'none of these', none, asks({ verified: true }), false],
  ['veto', 'switched off', none, asks({ veto: false }), false],
  ['veto', 'switched off by one of two rules', silent, asks({ veto: false }), true],
  ['veto', 'switched off by both', asks({ veto: false }), asks({ veto: false }), false],
  ['veto', 'switched off by one, kept by another', asks({ veto: false }), asks({ veto: true }), true],
  ['veto', 'a risk default of the ceiling keeps it', {}, asks({ veto: false }), true],
  ['verified', 'demanded', none, asks({ verified: true }), true],
  ['verified', 'demanded by one of two', asks({ verified: true }), asks({ verified: false }), true],
  ['whenUserWrites', 'shown', none, asks({ when_user_writes: 'show' }), undefined],
  [
    'whenUserWrites',
    'one of two withdraws',
    asks({ when_user_writes: 'withdraw' }),
    asks({ when_user_writes: 'show' }),
    'withdraw',
  ],
  ['whenUserWrites', 'the other of two withdraws', silent, asks({ when_user_writes: 'withdraw' }), 'withdraw'],
  ['allowSelf', 'allowed', none, asks({ allow_self: true }), true],
  ['allowSelf', 'allowed by one of two', asks({ allow_self: true }), silent, false],
  ['allowSelf', 'allowed by both', asks({ allow_self: true }), asks({ allow_self: true }), true],
  ['allowSelf', 'a risk default of the ceiling does not', {}, asks({ allow_self: true }), false],
  ['allowSelf', 'a ceiling that allows the call is not asked', allows(), asks({ allow_self: true }), true],
  ['warnBeforeMs', 'the earliest', asks({ warn_before: '1m' }), asks({ warn_before: '2m' }), 2 * minute],
  ['remindMs', 'the most often', asks({ remind: '1m' }), asks({ remind: '2m' }), minute],
  [
    'escalate',
    'all, in order of time',
    asks({ escalate: [{ after: '3m', to: ['cfo'] }] }),
    asks({
      escalate: [
        { after: '5m', to: ['ceo'] },
        { after: '1m', to: ['bob'] },
      ],
    }),
    [
      { afterMs: minute, to: ['bob'] },
      { afterMs: 3 * minute, to: ['cfo'] },
      { afterMs: 5 * minute, to: ['ceo'] },
    ],
  ],
  ['always', 'written', none, asks({ always: 'arguments' }), 'arguments'],
  ['always', 'the narrower', asks({ always: 'call' }), asks({ always: 'arguments' }), 'call'],
  ['always', 'none by one of two', asks({ always: false }), silent, false],
  ['timeoutMs', 'the smaller', asks({ timeout: '2m' }), asks({ timeout: '1m' }), minute],
  [
    'timeoutMs',
    'a rule of one layer, the policy of the other',
    allows({ timeout: '1m' }),
    asks({ timeout: '2m' }),
    minute,
  ],
  ['timeoutMs', 'for ever', allows({ max_timeout: 'never' }), { ...silent, approval: {} }, 5 * minute],
  ['onTimeout', 'the ceiling says allow', asks({ on_timeout: 'allow' }), none, 'allow'],
  ['onTimeout', 'the ceiling’s policy says allow', asks({}, { on_timeout: 'allow' }), none, 'allow'],
  ['onTimeout', 'its rule says deny', asks({ on_timeout: 'deny' }, { on_timeout: 'allow' }), none, 'deny'],
  ['onTimeout', 'no ceiling permits it', none, asks({ on_timeout: 'allow' }), 'deny'],
  ['onTimeout', 'the ceiling says nothing', allows(), asks({ on_timeout: 'allow' }), 'deny'],
  ['onTimeout', 'the ceiling permits it', allows({ on_timeout: 'allow' }), asks({ on_timeout: 'allow' }), 'allow'],
  ['onTimeout', 'the run says nothing', asks({ on_timeout: 'allow' }), silent, 'deny'],
  ['onTimeout', 'the run’s policy says allow', asks({ on_timeout: 'allow' }), allows({ on_timeout: 'allow' }), 'allow'],
  ['onTimeout', 'the run’s policy says nothing', asks({ on_timeout: 'allow' }), allows(), 'deny'],
  ['onTimeout', 'the run’s policy says deny', asks({ on_timeout: 'allow' }), allows({ on_timeout: 'deny' }), 'deny'],
];
test.each(cases)('%s: %s', (key, _, ceiling, run, expected) => {
  expect(termsOf(ceiling, run)[key]).toEqual(expected);
});

describe('commands', () => {
  const split = (...texts: string[]) => ({
    parts: texts.map((text) => ({ text, reduced: text })),
    uncertain: [],
  });
  const call = (...texts: string[]): RuledCall => ({
    tool: 'sh',
    args: { c: texts.join('; ') },
    subject: 'c',
    risk: 'write',
    shell: split(...texts),
  });
  const rules = [
    { pattern: 'sh:git *', action: 'ask', ask: { reviewers: ['ann'], veto: false, on_timeout: 'allow' } },
    { pattern: 'sh:make *', action: 'ask', ask: { reviewers: ['bob'], always: 'call' } },
    { pattern: 'sh:ls *', action: 'ask' },
  ];

  test.each<[string, string[], Partial<AskTerms>]>([
    ['one part', ['git push'], { requirements: [{ ...ofCeiling, ...ann }], veto: false, onTimeout: 'allow' }],
    [
      'each part has its requirement',
      ['git push', 'make x'],
      {
        requirements: [
          { ...ofCeiling, ...ann },
          { ...ofCeiling, reviewers: ['bob'] },
        ],
        onTimeout: 'deny',
      },
    ],
    ['a part whose rule says nothing keeps the defaults', ['git push', 'ls x'], { veto: true, onTimeout: 'deny' }],
    ['so does one without a rule', ['cat x', 'git push'], { veto: true, onTimeout: 'deny' }],
    ['a command asks for grants of that command', ['ls x'], { always: 'call' }],
  ])('%s', (_, texts, expected) => {
    expect(termsOf({ rules }, undefined, call(...texts))).toMatchObject(expected);
  });
});

test.each<[string, Partial<RuledCall>, string]>([
  ['nothing written', { risk: 'write' }, 'tool'],
  ['destructive', { risk: 'destructive' }, 'call'],
])('always of a rule without that setting: %s', (_, call, expected) => {
  expect(termsOf(none, silent, call).always).toBe(expected);
});

test.each<[RuledCall['risk'], 'safe' | 'low' | 'medium' | 'high' | 'critical', string]>([
  ['read_only', 'safe', 'allow'],
  ['write', 'safe', 'allow'],
  ['write', 'low', 'allow'],
  ['write', 'medium', 'deny'],
  ['read_only', 'high', 'deny'],
  ['write', 'critical', 'deny'],
  ['destructive', 'safe', 'deny'],
  ['unknown', 'safe', 'deny'],
])('on_timeout: allow for risk %s, severity %s: %s', (risk, severity, expected) => {
  const ceiling = policyOf({ approval: { on_timeout: 'allow' } }, true);
  expect(askTermsOf({ ceiling }, { rule: 'r', severity }, { risk }).onTimeout).toBe(expected);
});

test.each<[string, true | undefined, Partial<AskTerms>]>([
  ['has not run', undefined, { onTimeout: 'allow', always: 'tool' }],
  ['may have run', true, { onTimeout: 'deny', always: false, noChannels: true }],
])('a call that %s', (_, mayHaveRun, { noChannels, ...expected }) => {
  const ceiling = policyOf({ approval: { on_timeout: 'allow' } }, true);
  const terms = askTermsOf({ ceiling }, { rule: null, severity: 'low' }, { risk: 'write', mayHaveRun });
  expect(terms).toMatchObject(expected);
  expect(terms.noChannels).toBe(noChannels);
});

test.each<[string, string[], number, string[]]>([
  ['before the first step', ['ann'], 59_999, ['ann']],
  ['at the first step', ['ann'], minute, ['ann', 'bob']],
  ['after all, each once', ['ann'], 10 * minute, ['ann', 'bob', 'eve']],
  ['anyone stays anyone', [], 10 * minute, []],
])('reviewers: %s', (_, reviewers, waitedMs, expected) => {
  const escalate = [
    { afterMs: minute, to: ['bob', 'ann'] },
    { afterMs: 2 * minute, to: ['eve', 'bob'] },
  ];
  expect(reviewersAt({ layer: 'run', reviewers, quorum: 1, oneOfEach: [], escalate }, waitedMs)).toEqual(expected);
});

test("the demands of an agent's policy belong to the run's side, for every key", () => {
  const run = mergeRunSide(policyOf(asks({ ...ann, on_timeout: 'deny' }, { on_timeout: 'allow' }), false))!;
  const ceiling = policyOf(allows({ on_timeout: 'allow' }), true);
  const layers = { ceiling: compilePolicy(ceiling, 'ceiling'), run: compilePolicy(run, 'run') };
  const call = { tool: 'pay', args: {}, risk: 'read_only' as const };
  const terms = askTermsOf({ ceiling, run }, evaluate(layers, call), call);
  expect(terms.requirements).toStrictEqual([
    { layer: 'run', reviewers: ['ann'], quorum: 1, oneOfEach: [], escalate: [] },
  ]);
  expect(terms.onTimeout).toBe('deny');
});

test('always of a risk default or a mode: any grant, whatever the risk', () => {
  expect(askTermsOf({}, { rule: null, severity: 'high' }, { risk: 'destructive' }).always).toBe('tool');
});

test.each<[string, object, boolean]>([
  ['the same', ann, true],
  ['other times', { ...ann, timeout: '1m', remind: '1m' }, true],
  ['other reviewers', { reviewers: ['bob'] }, false],
  ['no veto', { ...ann, veto: false }, false],
  ['verified', { ...ann, verified: true }, false],
  ['self-approval', { ...ann, allow_self: true }, false],
])('equality of demands: %s', (_, ask, expected) => {
  expect(sameDemands(termsOf(none, asks(ann)), termsOf(none, asks(ask)))).toBe(expected);
});

test.each<[string, object, boolean]>([
  ['the same', ann, true],
  ['another time-out', { ...ann, timeout: '1m' }, true],
  ['another reminder', { ...ann, remind: '1m' }, false],
  ['other reviewers', { reviewers: ['bob'] }, false],
])('equality of terms: %s', (_, ask, expected) => {
  expect(sameTerms(termsOf(none, asks(ann)), termsOf(none, asks(ask)))).toBe(expected);
});
