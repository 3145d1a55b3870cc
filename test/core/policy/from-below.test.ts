/** What stands below the ceiling, or comes from a starter, neither loosens, nor blinds, nor floods (docs/policy-reference.md). */
import { expect, test } from 'vitest';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import { askTermsOf, termsOfWait, type AskTerms } from '../../../src/core/policy/ask-terms.ts';
import { hidingProblem, beyondDenying } from '../../../src/policy-file/parse-run-policy.ts';
import { ceilingRedaction } from '../../../src/core/policy/redaction-settings.ts';
import { readRunPolicy } from '../../../src/activities/load-agent.ts';
import type { Mode } from '../../../src/core/policy/modes.ts';
import type { Policy, PolicyLayers } from '../../../src/core/policy/policy.ts';
import { compileLayers, evaluate, type Ruling } from '../../../src/core/policy/ruling.ts';

const minute = 60_000;

function policyOf(document: object, ceiling = false): Policy {
  const parsed = parsePolicy(document, { ceiling });
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  return parsed.policy;
}

/** The terms of a call of `pay` under these documents. */
function termsOf(ceiling: object | undefined, run: object): AskTerms {
  const layers: PolicyLayers = { ...(ceiling && { ceiling: policyOf(ceiling, true) }), run: policyOf(run) };
  const call = { tool: 'pay', args: {}, risk: 'write' as const };
  const safe = { severity: 'low' as const, reasons: [], affectedResources: [], recommendations: [] };
  const assessment = { ...safe, reversible: true, requiresApproval: false };
  const ruling = evaluate(compileLayers(layers), call, { assessment });
  expect(ruling.action).toBe('ask');
  return askTermsOf(layers, ruling, call);
}

const asks = (ask?: object, approval?: object) => ({
  rules: [{ pattern: 'pay', action: 'ask', ...(ask && { ask }) }],
  ...(approval && { approval }),
});
const allows = (approval?: object) => ({ rules: [{ pattern: '*', action: 'allow' }], ...(approval && { approval }) });

const runs = (timeout: string): object => ({ on_timeout: 'allow', timeout });
test.each<[string, object, object, number | null]>([
  ['rules', asks(runs('1h')), asks(runs('1ms')), 60 * minute],
  ['policies', asks({}, runs('1h')), asks({}, runs('1ms')), 60 * minute],
  ['a ceiling that sets no time', asks({ on_timeout: 'allow' }), asks(runs('1ms')), 5 * minute],
  ['a risk default of the ceiling', { approval: runs('1h') }, { approval: runs('1ms') }, 60 * minute],
  ['a run that takes longer', asks(runs('1m')), asks(runs('2m')), 2 * minute],
  ['a ceiling that only permits it', allows(runs('1h')), asks(runs('1m')), 60 * minute],
  ['at most the longest time-out', asks({}, { on_timeout: 'allow', max_timeout: '1h' }), asks(runs('2h')), 60 * minute],
  ['a denial at the end', asks(runs('1h')), asks({ timeout: '1ms' }), 1],
])('a call that runs at its deadline waits the longest time of all layers: %s', (_, ceiling, run, expected) => {
  expect(termsOf(ceiling, run).timeoutMs).toBe(expected);
});

test.each<[string, AskTerms['onTimeout'], number | null, number | null, 'deny' | 'allow']>([
  ['all of it', 'allow', minute, minute, 'allow'],
  ['more', 'allow', minute, null, 'allow'],
  ['less', 'allow', minute, minute - 1, 'deny'],
  ['less than for ever', 'allow', null, minute, 'deny'],
  ['for ever', 'allow', null, null, 'allow'],
  ['all of it, and is denied anyway', 'deny', minute, minute, 'deny'],
])('a call runs at its deadline if it has waited its time: %s', (_, onTimeout, timeoutMs, waitMs, expected) => {
  const terms = { ...termsOf(undefined, asks()), onTimeout, timeoutMs };
  expect(termsOfWait(terms, waitMs)).toEqual({ ...terms, onTimeout: expected });
});

test.each<[string, object | undefined, object, number]>([
  ['once a minute', allows(), asks({ remind: '1s' }), minute],
  ['as often as the ceiling says', allows({ min_remind: '10s' }), asks({ remind: '1s' }), 10_000],
  ['the ceiling itself, as often as it likes', asks({ remind: '2s' }), asks({ remind: '1s' }), 2_000],
  ['less often', allows(), asks({ remind: '2m' }), 2 * minute],
  ['without a ceiling, as the policy says', undefined, asks({ remind: '1s' }), 1_000],
])('reminders from below a ceiling: %s', (_, ceiling, run, expected) => {
  expect(termsOf(ceiling, run).remindMs).toBe(expected);
});

test.each<[string, object | undefined, number[], [number, number][]]>([
  ['one rule that sends 20 notices in 20 s', allows(), [1, 2, 3, 4, 20], [[60, 5]]],
  [
    'as often as the ceiling says',
    allows({ min_remind: '10s' }),
    [1, 2, 11, 12, 25],
    [
      [10, 2],
      [20, 2],
      [30, 1],
    ],
  ],
  [
    'steps that are far apart',
    allows(),
    [60, 120, 3_600],
    [
      [60, 1],
      [120, 1],
      [3_600, 1],
    ],
  ],
  [
    'a step that is a little early',
    allows(),
    [60, 90, 300],
    [
      [60, 1],
      [120, 1],
      [300, 1],
    ],
  ],
  [
    'without a ceiling, as the policy says',
    undefined,
    [1, 2],
    [
      [1, 1],
      [2, 1],
    ],
  ],
])('escalation from below a ceiling: %s', (_, ceiling, seconds, expected) => {
  const escalate = seconds.map((after, index) => ({ after: `${after}s`, to: [`person-${index}`] }));
  const terms = termsOf(ceiling, asks({ reviewers: ['ann'], escalate }));
  expect(terms.escalate.map(({ afterMs, to }) => [afterMs / 1_000, to.length])).toEqual(expected);
  const added = terms.requirements.flatMap(({ escalate: steps }) => steps.map(({ afterMs }) => afterMs / 1_000));
  expect(added).toEqual(expected.flatMap(([after, count]) => Array.from({ length: count }, () => after)));
});

test("a ceiling's own steps stay, and a run's do not delay them", () => {
  const step = (after: string, name: string) => ({ after, to: [name] });
  const ofCeiling = asks({ reviewers: ['ann'], escalate: [step('1s', 'eve'), step('2s', 'bob')] });
  const terms = termsOf(ofCeiling, asks({ reviewers: ['ann'], escalate: [step('1s', 'cat'), step('2s', 'dan')] }));
  expect(terms.escalate).toEqual([
    { afterMs: 1_000, to: ['eve'] },
    { afterMs: 2_000, to: ['bob'] },
    { afterMs: minute, to: ['cat', 'dan'] },
  ]);
});

type Asking = NonNullable<Ruling['ask']>['by'][number];
const asking = (layer: Asking['layer'], escalate: Asking['escalate'], more: Partial<Asking> = {}): Asking => ({
  rule: null,
  layer,
  reviewers: ['ann'],
  ...(escalate && { escalate }),
  ...more,
});
const step = (afterMs: number, ...to: string[]) => ({ afterMs, to });

test.each<[string, Asking[], [number, ...string[]][]]>([
  [
    'rules of one layer are spaced together, and what is due at once is one notice',
    [asking('run', [step(1_000, 'bob')]), asking('run', [step(2_000, 'cat')], { reviewers: ['eve'] })],
    [[minute, 'bob', 'cat']],
  ],
  [
    'a step as late as another is due delays nothing',
    [asking('run', [step(1_000, 'bob'), step(minute, 'cat')])],
    [[minute, 'bob', 'cat']],
  ],
  [
    'a rule without steps delays none of its layer',
    [asking('run', undefined, { quorum: 2 }), asking('run', [step(minute, 'bob'), step(2 * minute, 'cat')])],
    [
      [minute, 'bob'],
      [2 * minute, 'cat'],
    ],
  ],
  [
    "an agent's rule and a run's are one layer",
    [asking('agent', [step(1_000, 'bob')]), asking('run', [step(1_000, 'cat')], { reviewers: ['eve'] })],
    [[minute, 'bob', 'cat']],
  ],
  [
    'each calling run is a layer of its own',
    [
      asking('run', [step(1_000, 'bob')]),
      asking('parent', [step(1_000, 'cat')], { parent: 0 }),
      asking('parent', [step(1_000, 'dan')], { parent: 1 }),
      asking('parent', [step(1_000, 'eve')], { parent: 2 }),
    ],
    [
      [minute, 'bob'],
      [minute, 'cat'],
      [minute, 'dan'],
      [minute, 'eve'],
    ],
  ],
  [
    'the notices of a ceiling stay apart',
    [asking('ceiling', [step(1_000, 'bob')]), asking('ceiling', [step(1_000, 'cat')], { reviewers: ['eve'] })],
    [
      [1_000, 'bob'],
      [1_000, 'cat'],
    ],
  ],
  [
    'also from those of a run',
    [asking('ceiling', [step(minute, 'bob')]), asking('run', [step(minute, 'cat')])],
    [
      [minute, 'bob'],
      [minute, 'cat'],
    ],
  ],
])('notices: %s', (_, by, expected) => {
  const layers: PolicyLayers = { ceiling: policyOf(allows(), true) };
  const ruling = { rule: null, severity: 'low', ask: { always: 'call', by } } as const;
  const { escalate } = askTermsOf(layers, ruling, { risk: 'write' });
  expect(escalate.map(({ afterMs, to }) => [afterMs, ...to])).toEqual(expected);
});

test.each<[string, object, object, string?, string?]>([
  ['nothing', {}, {}],
  [
    'include_arguments: false',
    { approval: { include_arguments: false } },
    {},
    'approval.include_arguments',
    'include_arguments: false',
  ],
  ['names of arguments', { redact: { also: ['to'] } }, {}, 'redact.also', 'also'],
  ['patterns', { redact: { patterns: [{ name: 'ALL', pattern: '.+' }] } }, {}, 'redact.patterns', 'patterns'],
  ['what is shown anyway', { approval: { include_arguments: true, redact: true } }, {}],
  ['kinds that the ceiling redacts', { redact: { kinds: ['EMAIL'] } }, {}],
  [
    'kinds that it leaves out',
    { redact: { kinds: ['EMAIL'] } },
    { redact: { kinds: ['IBAN'] } },
    'redact.kinds',
    'kinds',
  ],
  [
    'redaction that it switches off',
    { approval: { redact: true } },
    { approval: { redact: false }, redact: { also: ['to'] } },
    'approval.redact',
    'redact: true',
  ],
  ['redaction that both switch off', { approval: { redact: false } }, { approval: { redact: false } }],
])('what hides arguments from the reviewers of a ceiling: %s', (_, document, ceiling, path, setting) => {
  const where = "it belongs in the ceiling or in the agent's policy";
  const message = `'${setting}' hides arguments from the reviewers of the ceiling: ${where}`;
  const problem = hidingProblem(policyOf(document), ceilingRedaction(policyOf(ceiling, true)));
  expect(problem).toEqual(path && { path, message });
});

test('of a ceiling that is not known, the built-in kinds count as redacted', () => {
  const read = (document: object) => readRunPolicy(document, { underCeiling: true });
  expect(read({ approval: { redact: true }, redact: { kinds: ['EMAIL'] } })).toHaveProperty('policy');
  expect(read({ redact: { also: ['to'] } })).toHaveProperty('problem');
});

const deny = { pattern: '*', action: 'deny' };
const ask = { pattern: 'pay', action: 'ask' };
test.each<[string, object | undefined, Mode | undefined, string | undefined]>([
  ['nothing', undefined, undefined, undefined],
  ['an empty policy', { version: 1, rules: [], approval: {} }, undefined, undefined],
  ['rules that deny', { rules: [deny], agents: { ops: { rules: [deny] } } }, undefined, undefined],
  ['a risk that is denied', { risk_defaults: { write: 'deny' } }, undefined, undefined],
  ['an allow rule', { rules: [deny, { pattern: 'pay', action: 'allow' }] }, undefined, 'policy.rules[1]'],
  ['an ask rule, which lifts a deny of the agent', { rules: [ask] }, undefined, 'policy.rules[0]'],
  [
    'a rule of an agent',
    { rules: [deny], agents: { ops: { rules: [deny, ask] } } },
    undefined,
    'policy.agents.ops.rules[1]',
  ],
  [
    'a risk that is asked about',
    { risk_defaults: { destructive: 'ask' } },
    undefined,
    'policy.risk_defaults.destructive',
  ],
  ['a limit', { approval: { max_pending: 50 } }, undefined, 'policy.approval'],
  [
    'a limit of the run, which may ask as often as it likes',
    { limits: { turns: { ask: 1 } } },
    undefined,
    'policy.limits',
  ],
  ['an assessment', { assess: [{ pattern: 'pay', severity: 'safe' }] }, undefined, 'policy.assess'],
  ['a directory', { directory: { people: { eve: { groups: ['finance'] } } } }, undefined, 'policy.directory'],
  ['something that is hidden', { redact: { also: ['to'] } }, undefined, 'policy.redact'],
  ['a mode in the policy', { mode: 'plan' }, undefined, 'policy.mode'],
  ['a mode beside it', undefined, 'plan', 'mode'],
])('what does more than deny: %s', (_, document, mode, expected) => {
  expect(beyondDenying({ policy: document && policyOf(document), mode })).toBe(expected);
});

test('a key of a reviewer does more than deny', () => {
  const reviewerKeys = { ann: { publicKey: 'x', operator: false } };
  expect(beyondDenying({ policy: { ...policyOf({}), reviewerKeys } })).toBe('policy.reviewer_keys');
});
