import { expect, test } from 'vitest';
import fc from 'fast-check';
import { defaultAssessment } from '../../src/core/assess/assessment.ts';
import { deniedToolId } from '../../src/core/ledger/denials.ts';
import { rulingsOf } from '../../src/audit/rule-again.ts';
import { verifyEvidence } from '../../src/audit/verify-evidence.ts';
import type { AskSettings, Policy, PolicyLayers } from '../../src/core/policy/policy.ts';
import { severities } from '../../src/core/base/tool-call.ts';
import { claimedBy } from '../support/record-request.ts';
import { RecordedRulings } from './recorded-rulings.ts';
import { agent, call, layers, shellCall } from '../core/generate.ts';
import { least, runs } from '../support/thorough.ts';

/** Limits, conditions on counts, terms and an assess rule beside the rules of generate.ts. */
const more = fc.record({
  limits: fc.record(
    {
      maxPending: fc.constantFrom(3, 20),
      maxRetriesAfterDeny: fc.constantFrom(2, 5),
      denialsHoldFor: fc.constantFrom('message' as const, 'run' as const),
      maxIrreversiblePerRun: fc.nat(9),
    },
    { requiredKeys: [] },
  ),
  counting: fc.constantFrom(
    undefined,
    'counts.calls > 4',
    'counts.irreversible > 1',
    'counts.denials > 0 || agent == "ops"',
    "sum('send', 'x') + sum('send_mail', 'x') > 1.0",
  ),
  ask: fc.record(
    { reviewers: fc.constant(['ann']), quorum: fc.constant(2), allowSelf: fc.boolean(), veto: fc.boolean() },
    { requiredKeys: [] },
  ),
  isAssessing: fc.boolean(),
  /** Denials become asks: most generated policies deny most calls. */
  isMild: fc.boolean(),
});

const runLayers: fc.Arbitrary<PolicyLayers> = fc
  .tuple(layers, more, fc.constantFrom('ceiling', 'run'))
  .map(([written, { limits, counting, ask, isAssessing, isMild }, side]) => {
    const empty: Policy = { version: 1, rules: [], riskDefaults: {}, approval: {} };
    const own = side === 'ceiling' ? (written.ceiling ?? empty) : (written.run ?? empty);
    const rules = own.rules.map((rule) =>
      rule.action === 'ask' ? { ...rule, ask: { ...rule.ask, ...(ask as AskSettings) } } : rule,
    );
    const counted =
      counting === undefined ? [] : [{ pattern: 'send*', when: counting, action: 'ask' as const, reason: 'many' }];
    const strict: PolicyLayers = {
      ...written,
      [side]: {
        ...own,
        rules: [...rules, ...counted],
        approval: limits,
        ...(isAssessing && { assess: [{ pattern: 'send*', severity: 'critical', reversible: false }] }),
      },
    };
    return isMild ? milder(strict) : strict;
  });

function milder({ ceiling, parents, run }: PolicyLayers): PolicyLayers {
  const eased = (policy: Policy): Policy => ({
    ...policy,
    mode: 'default',
    rules: policy.rules.map((rule) => (rule.action === 'deny' ? { ...rule, action: 'ask' } : rule)),
    riskDefaults: { destructive: 'ask' },
  });
  return {
    ...(ceiling && { ceiling: eased(ceiling) }),
    ...(parents && { parents: parents.map(eased) }),
    ...(run && { run: eased(run) }),
  };
}

const assessed = fc.option(
  fc
    .record({ severity: fc.constantFrom(...severities), reversible: fc.boolean(), requiresApproval: fc.boolean() })
    .map((own) => ({
      ...defaultAssessment('write'),
      ...own,
    })),
  { nil: undefined },
);

const always = fc.constantFrom(
  undefined,
  true,
  { kind: 'tool' as const },
  { kind: 'call' as const },
  {
    kind: 'arguments' as const,
    match: { to: 'a*' },
  },
  { kind: 'tool' as const, uses: 1 },
  { kind: 'tool' as const, expiresIn: '1s' },
);

const step = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constant('call' as const), call: fc.oneof(call, shellCall), assessed }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('decide' as const),
      which: fc.nat(9),
      approved: fc.boolean(),
      always,
      reviewer: fc.constantFrom(undefined, 'ann', 'bob', 'olga'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change' as const), layers: runLayers }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('heard' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lift' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      which: fc.nat(9),
      ran: fc.constantFrom('yes', 'no', 'unknown'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delegate' as const) }) },
);

function played(
  policies: PolicyLayers,
  of: string,
  steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[],
) {
  const run = new RecordedRulings(policies, of, { caller: { userId: 'olga' }, metadata: { team: 'red' } });
  for (const each of steps) {
    const { open } = run.ledger;
    if (each.kind === 'call') run.call(each.call, each.assessed);
    else if (each.kind === 'change') run.change(each.layers);
    else if (each.kind === 'revoke') run.send({ kind: 'revoke', atMs: run.atMs, grants: 'all' });
    else if (each.kind === 'heard') run.send({ kind: 'heard', atMs: run.atMs });
    else if (each.kind === 'lift') {
      const grants = Object.keys(run.ledger.denied.byTool).map(deniedToolId).slice(0, 1);
      run.send({ kind: 'revoke', atMs: run.atMs, grants });
    } else if (each.kind === 'end') {
      const running = run.ledger.outcomes.filter(({ ran }) => ran === 'pending');
      const { callId } = running[each.which % running.length] ?? {};
      if (callId !== undefined) run.send({ kind: 'ran', atMs: run.atMs, callId, ran: each.ran });
    } else if (open.length === 0) continue;
    else if (each.kind === 'expire') {
      run.send({ kind: 'expire', atMs: run.atMs, requestId: open[0]!.request.requestId });
    } else if (each.kind === 'delegate') {
      const { requestId } = open[0]!.request;
      run.send({ kind: 'delegate', atMs: run.atMs, requestId, to: 'bob', voter: claimedBy('ann') });
    } else {
      const { requestId } = open[each.which % open.length]!.request;
      const { approved, always: wish, reviewer } = each;
      const decision = { requestId, approved, ...(wish !== undefined && { always: wish }) };
      run.send({ kind: 'decide', atMs: run.atMs, decision, voter: claimedBy(reviewer) });
    }
  }
  return run;
}

test('generated calls under generated policies are ruled on again, and agree', () => {
  const seen = { calls: 0, rulings: 0, kinds: new Map<string, number>() };
  fc.assert(
    fc.property(
      runLayers,
      agent,
      fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }),
      (policies, of, steps) => {
        const { entries, evidence } = played(policies, of, steps);
        // What a file holds.
        const { agreed, differing, notReRuled } = verifyEvidence(
          JSON.parse(JSON.stringify(entries)) as typeof entries,
          JSON.parse(JSON.stringify(evidence)) as typeof evidence,
        );
        expect(differing).toEqual([]);
        expect(notReRuled).toEqual([]);
        const rulings = rulingsOf(entries);
        expect(agreed).toEqual(rulings.map(({ seq }) => seq));
        seen.calls += steps.filter(({ kind }) => kind === 'call').length;
        seen.rulings += rulings.length;
        for (const { kind, outcome = '', by = '', layer } of rulings) {
          const name = [kind, outcome, by, layer === 'grant' ? 'grant' : ''].filter((part) => part !== '').join(' ');
          seen.kinds.set(name, (seen.kinds.get(name) ?? 0) + 1);
        }
      },
    ),
    { numRuns: runs(150), seed: 13 },
  );
  process.stdout.write(
    `${seen.calls} calls, ${seen.rulings} rulings: ${JSON.stringify(Object.fromEntries(seen.kinds))}\n`,
  );
  expect(seen.calls).toBeGreaterThanOrEqual(least(2_500));
  // Every kind of ruling is among them.
  expect([...seen.kinds.keys()].toSorted()).toEqual(
    expect.arrayContaining([
      'opened',
      'reruled',
      'ruling allowed',
      'ruling allowed grant',
      'ruling denied',
      'ruling denied_by_policy',
      'ruling refused',
      'settled superseded grant',
      'settled superseded policy',
    ]),
  );
});
