/** What stands below the ceiling, or comes from a starter, neither loosens, nor blinds, nor floods (docs/policy.md). */
import { expect, test } from 'vitest';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import { askTermsOf, termsOfWait, type AskTerms } from '../../../src/core/policy/ask-terms.ts';
import { hidingProblem } from '../../../src/policy-file/hiding-problem.ts';
import type { Mode } from '../../../src/core/policy/modes.ts';
import { beyondDenying } from '../../../src/policy-file/only-denies.ts';
import type { Policy, PolicyLayers } from '../../../src/core/policy/policy.ts';
import { compileLayers, engine, evaluate } from '../../../src/core/policy/ruling.ts';

const minute = 60_000;

function policyOf(document: object, ceiling = false): Policy {
  const parsed = parsePolicy(document, { ceiling });
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  return parsed.policy;
}

/** The terms of a call of `pay` under these documents. */
function termsOf(ceiling: object | undefined, run: object, number = engine): AskTerms {
  const layers: PolicyLayers = { ...(ceiling && { ceiling: policyOf(ceiling, true) }), run: policyOf(run) };
  const call = { tool: 'pay', args: {}, risk: 'write' as const };
  const safe = { severity: 'low' as const, reasons: [], affectedResources: [], recommendations: [] };
  const assessment = { ...safe, reversible: true, requiresApproval: false };
  const ruling = evaluate(compileLayers(layers), call, { engine: number, assessment });
  expect(ruling.action).toBe('ask');
  return askTermsOf(layers, ruling, call);
}

const asks = (ask?: object, approval?: object) => ({
  rules: [{ pattern: 'pay', action: 'ask', ...(ask && { ask }) }],
  ...(approval && { approval }),
});
const allows = (approval?: object) => ({ rules: [{ pattern: '*', action: 'allow' }], ...(approval && { approval }) });

const runs = (timeout: string): object => ({ on_timeout: 'allow', timeout });
test.each<[string, object, object, number | null, number]>([
  ['rules', asks(runs('1h')), asks(runs('1ms')), 60 * minute, 1],
  ['policies', asks({}, runs('1h')), asks({}, runs('1ms')), 60 * minute, 1],
  ['a ceiling that sets no time', asks({ on_timeout: 'allow' }), asks(runs('1ms')), 5 * minute, 1],
  ['a risk default of the ceiling', { approval: runs('1h') }, { approval: runs('1ms') }, 60 * minute, 1],
  ['a run that takes longer', asks(runs('1m')), asks(runs('2m')), 2 * minute, minute],
  ['a ceiling that only permits it', allows(runs('1h')), asks(runs('1m')), 60 * minute, minute],
  [
    'at most the longest time-out',
    asks({}, { on_timeout: 'allow', max_timeout: '1h' }),
    asks(runs('2h')),
    60 * minute,
    60 * minute,
  ],
  ['a denial at the end', asks(runs('1h')), asks({ timeout: '1ms' }), 1, 1],
])(
  'a call that runs at its deadline waits the longest time of all layers: %s',
  (_, ceiling, run, expected, ofEngine2) => {
    expect(termsOf(ceiling, run).timeoutMs).toBe(expected);
    expect(termsOf(ceiling, run, 2).timeoutMs).toBe(ofEngine2);
  },
);

test.each<[string, AskTerms['onTimeout'], number | null, number | null, 'deny' | 'allow']>([
  ['all of it', 'allow', minute, minute, 'allow'],
  ['more', 'allow', minute, null, 'allow'],
  ['less', 'allow', minute, minute - 1, 'deny'],
  ['less than for ever', 'allow', null, minute, 'deny'],
  ['for ever', 'allow', null, null, 'allow'],
  ['all of it, and is denied anyway', 'deny', minute, minute, 'deny'],
])('a call runs at its deadline if it has waited its time: %s', (_, onTimeout, timeoutMs, waitMs, expected) => {
  const terms = { ...termsOf(undefined, asks()), onTimeout, timeoutMs };
  expect(termsOfWait(terms, waitMs, 3)).toEqual({ ...terms, onTimeout: expected });
  expect(termsOfWait(terms, waitMs, 2)).toEqual(terms);
});

test.each<[string, object | undefined, object, number, number]>([
  ['once a minute', allows(), asks({ remind: '1s' }), minute, 1_000],
  ['as often as the ceiling says', allows({ min_remind: '10s' }), asks({ remind: '1s' }), 10_000, 1_000],
  ['the ceiling itself, as often as it likes', asks({ remind: '2s' }), asks({ remind: '1s' }), 2_000, 1_000],
  ['less often', allows(), asks({ remind: '2m' }), 2 * minute, 2 * minute],
  ['without a ceiling, as the policy says', undefined, asks({ remind: '1s' }), 1_000, 1_000],
])('reminders from below a ceiling: %s', (_, ceiling, run, expected, ofEngine2) => {
  expect(termsOf(ceiling, run).remindMs).toBe(expected);
  expect(termsOf(ceiling, run, 2).remindMs).toBe(ofEngine2);
});

test.each<[string, object, string | undefined]>([
  ['nothing', {}, undefined],
  ['include_arguments: false', { approval: { include_arguments: false } }, 'approval.include_arguments'],
  ['names of arguments', { redact: { also: ['to'] } }, 'redact.also'],
  ['patterns', { redact: { patterns: [{ name: 'ALL', pattern: '.+' }] } }, 'redact.patterns'],
  ['what is shown anyway', { approval: { include_arguments: true, redact: true } }, undefined],
  ['kinds of what is secret', { redact: { kinds: ['EMAIL'] } }, undefined],
])('what hides arguments from the reviewers of a ceiling: %s', (_, document, path) => {
  const problem = hidingProblem(policyOf(document));
  expect(problem?.path).toBe(path);
  if (problem !== undefined) expect(problem.message).toMatch(/ belongs in the ceiling or in the agent's policy$/);
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
