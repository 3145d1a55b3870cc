import { describe, expect, test } from 'vitest';
import { defaultAssessment } from '../../src/core/assess/assessment.ts';
import type { EvidenceCall, RunEvidence } from '../../src/audit/evidence.ts';
import { verifyEvidence } from '../../src/audit/verify-evidence.ts';
import { jsonDigest } from '../../src/core/base/digest.ts';
import type { Json } from '../../src/core/base/tool-call.ts';
import type { JournalEntry } from '../../src/core/ledger/journal-entry.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import { claimedBy, requestIdOf } from '../support/record-request.ts';
import { RecordedRulings } from './recorded-rulings.ts';

const policyOf = (approval: Policy['approval'], rules: Policy['rules'], more: Partial<Policy> = {}): Policy => ({
  version: 1,
  rules,
  riskDefaults: {},
  approval,
  ...more,
});

const ceiling = policyOf({ maxRetriesAfterDeny: 3 }, [
  { id: 'reads', pattern: 'look', action: 'allow' },
  { id: 'money', pattern: 'pay', action: 'ask', reason: 'Money needs a person' },
  { id: 'small', pattern: 'pay', when: 'args.amount < 10 && metadata.team == "red"', action: 'allow' },
  { id: 'ops', pattern: 'restart', when: 'agent == "ops"', action: 'allow' },
  { id: 'worst', pattern: '*', when: 'severity == "critical"', action: 'deny', reason: 'Too dangerous' },
  { id: 'many', pattern: 'pay', when: 'counts.denials >= 1 && args.amount < 10', action: 'ask' },
]);
const stricter = policyOf({}, [{ id: 'none', pattern: 'wire', action: 'deny', reason: 'Not today' }]);

/** One run with a ruling of every kind. */
function recorded(): { entries: JournalEntry[]; evidence: RunEvidence } {
  const run = new RecordedRulings({ ceiling }, 'ops', { caller: { userId: 'olga' }, metadata: { team: 'red' } });
  const pay = (amount: number) => ({ tool: 'pay', args: { to: 'ann', amount }, risk: 'write' as const });
  const decide = (
    number: number,
    approved: boolean,
    always?: { kind: 'call' } | { kind: 'arguments'; match: Record<string, string>; uses: number },
  ): void => {
    const decision = { requestId: requestIdOf(number), approved, ...(always !== undefined && { always }) };
    run.send({ kind: 'decide', atMs: run.atMs, decision, voter: claimedBy('bob') });
  };
  run.call({ tool: 'look', args: {}, risk: 'read_only' }, undefined); // 1 allowed
  run.call(pay(5), undefined); // 2 allowed by 'small'
  run.call(pay(50), undefined); // 3 opened
  decide(1, true, { kind: 'arguments', match: { to: 'ann' }, uses: 1 }); // 4 settled, 5 grant
  run.call(pay(60), undefined); // 6 allowed by grant-1, its only use
  run.call(pay(70), undefined); // 7 opened
  decide(2, false); // 8 settled
  run.call(pay(70), undefined); // 9 denied before
  run.call(pay(6), undefined); // 10 opened by 'many'
  decide(3, false); // 11 settled
  run.call(pay(80), undefined); // 12 refused: denied three times
  run.call({ tool: 'restart', args: {}, risk: 'write' }, { ...defaultAssessment('write'), severity: 'critical' }); // 13 denied
  run.call({ tool: 'restart', args: { all: true }, risk: 'write' }, undefined); // 14 allowed
  run.call({ tool: 'wire', args: { amount: 1 }, risk: 'write' }, undefined); // 15 opened
  run.change({ ceiling, run: stricter }); // 16 policy, 17 settled by policy
  return { entries: run.entries, evidence: run.evidence };
}

type Recorded = ReturnType<typeof recorded>;

function callAt({ evidence }: Recorded, seq: number): EvidenceCall {
  return evidence.calls[evidence.rulings.find((each) => each.seq === seq)!.call]!;
}

/** Changes the call of an entry. `named`: also its digest, as somebody would who knows the format. */
function changeCall(run: Recorded, seq: number, change: Partial<EvidenceCall>, named: boolean): void {
  const ruling = run.evidence.rulings.find((each) => each.seq === seq)!;
  const changed = { ...callAt(run, seq), ...change };
  if (named) ruling.call = jsonDigest(changed as unknown as Json);
  run.evidence.calls[ruling.call] = changed;
}

function changePolicy(run: Recorded, change: (policy: Policy) => Policy, named: boolean): void {
  const { evidence } = run;
  const [digest] = Object.entries(evidence.policies).find(([, each]) => each.rules.some(({ id }) => id === 'money'))!;
  const changed = change(evidence.policies[digest]!);
  const key = named ? jsonDigest(changed as unknown as Json) : digest;
  evidence.policies[key] = changed;
  for (const ruling of evidence.rulings) ruling.policies = { ...ruling.policies, ceiling: key };
}

const entryAt = ({ entries }: Recorded, seq: number): JournalEntry => entries.find((each) => each.seq === seq)!;
const loosened = (policy: Policy): Policy => ({ ...policy, rules: policy.rules.filter(({ id }) => id !== 'money') });

test('a whole run agrees', () => {
  const { entries, evidence } = recorded();
  const { agreed, differing, notReRuled } = verifyEvidence(entries, evidence);
  expect({ differing, notReRuled }).toEqual({ differing: [], notReRuled: [] });
  expect(agreed).toEqual([1, 2, 3, 6, 7, 9, 10, 12, 13, 14, 15, 17]);
  expect(entryAt({ entries, evidence }, 6)).toMatchObject({ layer: 'grant', rule: 'grant-1' });
  expect(entryAt({ entries, evidence }, 9)).toMatchObject({ outcome: 'denied' });
  expect(entryAt({ entries, evidence }, 12)).toMatchObject({ outcome: 'refused' });
  expect(entryAt({ entries, evidence }, 17)).toMatchObject({ outcome: 'superseded', by: 'policy', byId: 'none' });
});

type Tampering = [what: string, tamper: (run: Recorded) => void, seq: number, sentence: RegExp];

const tamperings: Tampering[] = [
  [
    'a policy',
    (run) => changePolicy(run, loosened, false),
    1,
    /policy [0-9a-f]{16}… is not the one that its digest names/,
  ],
  [
    'a policy and its digest',
    (run) => changePolicy(run, loosened, true),
    1,
    /the policies are not those of the digest that the journal names/,
  ],
  [
    'a policy, its digest, and the digest in the journal',
    (run) => {
      changePolicy(run, loosened, true);
      delete entryAt(run, 1).policyDigest;
    },
    3,
    /its rule is null; the journal says 'money'/,
  ],
  [
    'an argument',
    (run) => changeCall(run, 3, { args: { to: 'eve', amount: 50 } }, false),
    3,
    /the arguments are not those of the digest/,
  ],
  [
    'an argument and its digest',
    (run) => changeCall(run, 3, { args: { to: 'eve', amount: 50 } }, true),
    3,
    /the arguments are not those of the digest/,
  ],
  [
    'an argument and every digest of it',
    (run) => {
      changeCall(run, 3, { args: { to: 'ann', amount: 4 } }, true);
      const { tool, args, definition } = callAt(run, 3);
      entryAt(run, 3).digest = jsonDigest({ arguments: args!, definition, tool });
    },
    3,
    /its answer is 'allowed'; the journal says 'asked'/,
  ],
  [
    'an assessment',
    (run) => changeCall(run, 13, { assessed: defaultAssessment('write') }, false),
    13,
    /the assessment are not those of the call's digest/,
  ],
  [
    'an assessment and its digest',
    (run) => changeCall(run, 13, { assessed: defaultAssessment('write') }, true),
    13,
    /its answer is 'allowed'; the journal says 'denied_by_policy'/,
  ],
  [
    'a risk and its digest',
    (run) => changeCall(run, 15, { risk: 'read_only' }, true),
    15,
    /its answer is 'allowed'; the journal says 'asked'/,
  ],
  [
    'the agent',
    (run) => run.evidence.rulings.forEach((each) => (each.agent = 'web')),
    1,
    /the agent is not the one that the journal names/,
  ],
  [
    'the metadata',
    (run) => Object.values(run.evidence.contexts).forEach((each) => (each.metadata = { team: 'blue' })),
    1,
    /the caller or the metadata are not those of the digest/,
  ],
  [
    'the recorded answer',
    (run) => Object.assign(entryAt(run, 13), { outcome: 'allowed' }),
    13,
    /its answer is 'denied_by_policy'; the journal says 'allowed'/,
  ],
  [
    'the recorded rule',
    (run) => Object.assign(entryAt(run, 2), { rule: 'reads' }),
    2,
    /its rule is 'small'; the journal says 'reads'/,
  ],
  [
    'the recorded layer',
    (run) => Object.assign(entryAt(run, 2), { layer: 'run' }),
    2,
    /its layer is 'ceiling'; the journal says 'run'/,
  ],
  [
    'the recorded severity',
    (run) => Object.assign(entryAt(run, 3), { severity: 'low' }),
    3,
    /its severity is 'medium'; the journal says 'low'/,
  ],
  [
    'the recorded reason',
    (run) => Object.assign(entryAt(run, 3), { reason: 'ok' }),
    3,
    /its reason is 'Money needs a person'; the journal says 'ok'/,
  ],
  [
    'the rule of a settled request',
    (run) => Object.assign(entryAt(run, 17), { byId: 'money' }),
    17,
    /its rule is 'none'; the journal says 'money'/,
  ],
  [
    'the way in which it was settled',
    (run) => Object.assign(entryAt(run, 17), { runs: true }),
    17,
    /its answer is 'denied'; the journal says 'allowed'/,
  ],
  [
    'the scope of a grant',
    (run) => Object.assign(entryAt(run, 5), { scope: { kind: 'arguments', match: { to: 'eve' } } }),
    6,
    /its answer is 'asked'; the journal says 'allowed'/,
  ],
  [
    'the uses of a grant',
    (run) => Object.assign(entryAt(run, 5), { uses: 2 }),
    7,
    /its answer is 'allowed'; the journal says 'asked'/,
  ],
  [
    'who made a grant',
    (run) => Object.assign(entryAt(run, 5), { voters: [{ reviewerId: 'olga', identity: 'claimed' }] }),
    6,
    /its answer is 'asked'/,
  ],
  [
    'when a grant ends',
    (run) => Object.assign(entryAt(run, 5), { expiresAt: '1970-01-01T00:00:01.000Z' }),
    6,
    /its answer is 'asked'/,
  ],
  [
    "a reviewer's denial",
    (run) => Object.assign(entryAt(run, 8), { outcome: 'expired' }),
    9,
    /its answer is 'asked'; the journal says 'denied'/,
  ],
  [
    'the engine',
    (run) =>
      Object.assign(
        run.entries.find(({ seq }) => seq === 2)!,
        { engine: 99 },
      ),
    2,
    /engine 99/,
  ],
];

describe('tampering is found and named', () => {
  test.each(tamperings)('%s', (_, tamper, seq, sentence) => {
    const run = structuredClone(recorded());
    tamper(run);
    const { differing, notReRuled } = verifyEvidence(run.entries, run.evidence);
    const [first] = [
      ...differing,
      ...notReRuled.map(({ seq: at, why }) => ({ seq: at, sentence: `entry ${at}: ${why}` })),
    ].toSorted((one, other) => one.seq - other.seq);
    expect(first).toMatchObject({ seq, sentence: expect.stringMatching(sentence) as unknown });
  });
});

type Refusal = [what: string, change: (run: Recorded) => void, seq: number, why: RegExp];

const refusals: Refusal[] = [
  [
    'an unknown engine',
    (run) => run.entries.forEach((entry) => (entry.engine = 9)),
    1,
    /ruling engine 9 is not in this version/,
  ],
  [
    'a call without evidence',
    (run) => (run.evidence.rulings = run.evidence.rulings.filter(({ seq }) => seq !== 3)),
    3,
    /the evidence has nothing about it/,
  ],
  ['a missing entry', (run) => run.entries.splice(4, 1), 6, /entries 5 to 5 are missing, and it may depend on that/],
  ['a missing policy', (run) => (run.evidence.policies = {}), 1, /a policy is not in the evidence/],
  [
    'evidence of another shape',
    (run) => Object.values(run.evidence.policies).forEach((each) => Object.assign(each, { rules: 7 })),
    1,
    /./,
  ],
];

describe('what cannot be ruled on again is counted, never as agreed', () => {
  test.each(refusals)('%s', (_, change, seq, why) => {
    const run = structuredClone(recorded());
    change(run);
    const { agreed, differing, notReRuled } = verifyEvidence(run.entries, run.evidence);
    expect(agreed).not.toContain(seq);
    const first = notReRuled.find((each) => each.seq === seq) ?? {
      why: differing.find((each) => each.seq === seq)?.sentence,
    };
    expect(first.why).toMatch(why);
    expect(agreed.length + differing.length + notReRuled.length).toBe(12);
  });

  test('metadata that no history keeps counts only where a rule reads it', () => {
    const { entries, evidence } = recorded();
    const unknown = { unknown: ['metadata' as const], caller: { userId: 'olga' } };
    const key = jsonDigest(unknown);
    const changed = {
      ...evidence,
      contexts: { [key]: unknown },
      rulings: evidence.rulings.map((each) => ({ ...each, context: key })),
    };
    const { agreed, notReRuled } = verifyEvidence(entries, changed);
    expect(agreed).toEqual([]);
    expect(notReRuled[0]!.why).toBe(`a rule reads 'metadata', which the history does not keep`);
  });
});

describe('arguments that no history keeps', () => {
  const withoutArguments = (rules: Policy['rules']) => {
    const run = new RecordedRulings({ ceiling: policyOf({}, rules) }, 'ops', {});
    run.call({ tool: 'pay', args: { amount: 3 }, risk: 'write' }, undefined);
    const state = { entries: run.entries, evidence: run.evidence };
    changeCall(state, 1, { args: undefined }, true);
    const ruling = state.evidence.rulings[0]!;
    const { args: _, ...call } = state.evidence.calls[ruling.call]!;
    ruling.call = jsonDigest(call as unknown as Json);
    state.evidence.calls[ruling.call] = call;
    return verifyEvidence(state.entries, state.evidence);
  };

  test.each<[string, Policy['rules'], string | undefined]>([
    ['no rule', [], undefined],
    ['a rule on the name', [{ pattern: 'p*', action: 'deny' }], undefined],
    ['a rule on the arguments of another tool', [{ pattern: 'mail:*', action: 'deny' }], undefined],
    ['a rule on the arguments', [{ pattern: 'pay:*3*', action: 'deny' }], 'reads'],
    ['a rule on one argument', [{ pattern: 'pay', args: { amount: '3' }, action: 'deny' }], 'reads'],
    ['a condition', [{ pattern: 'pay', when: 'args.amount > 2', action: 'deny' }], 'reads'],
  ])('%s', (_, rules, reads) => {
    const { agreed, differing, notReRuled } = withoutArguments(rules);
    expect(differing).toEqual([]);
    const why = 'no history keeps its arguments, and the policies or a grant read them';
    expect({ agreed, notReRuled }).toEqual(
      reads === undefined ? { agreed: [1], notReRuled: [] } : { agreed: [], notReRuled: [{ seq: 1, why }] },
    );
  });
});
