/** Laws of `sum` in conditions: for any calls, decisions, ends and changes of policy, in any order. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifyEvidence } from '../../../src/audit/verify-evidence.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { sumOf } from '../../../src/core/ledger/argument-sums.ts';
import type { Ledger } from '../../../src/core/ledger/ledger.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { RecordedRulings } from '../../audit/recorded-rulings.ts';
import { claimedBy } from '../../support/record-request.ts';
import { runs } from '../../support/thorough.ts';

const bound = 10;
const fits = `sum('pay', 'amount') + args.amount <= ${bound}.0`;
const over = `sum('pay', 'amount') + args.amount > ${bound}.0`;
const policyOf = (...rules: Policy['rules']): Policy => ({
  version: 1,
  rules,
  riskDefaults: {},
  approval: { maxPending: 50, maxRetriesAfterDeny: 100 },
});
/** Everything is asked about, and what does not fit is denied. */
const strict = policyOf({ pattern: 'pay', action: 'ask' }, { pattern: 'pay', when: over, action: 'deny' });
/** What fits runs, and a person is asked about the rest. */
const mild = policyOf({ pattern: 'pay', when: fits, action: 'allow' });

const amount = fc.integer({ min: 0, max: 80 }).map((tenths) => tenths / 10);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('call' as const), amount }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      which: fc.nat(9),
      how: fc.constantFrom('approve', 'deny', 'expire', 'cancel', 'respond', 'edit'),
      amount,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      which: fc.nat(9),
      ran: fc.constantFrom('yes', 'no', 'unknown'),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

const steps = fc.array(step, { maxLength: 30 });

/** What was admitted, told by the calls alone: each has its amount while it may run, runs or has run. */
class Calls {
  readonly run: RecordedRulings;
  readonly amounts = new Map<string, number>();

  constructor(policy: Policy) {
    this.run = new RecordedRulings({ ceiling: policy }, 'ops', {});
  }

  get ledger(): Ledger {
    return this.run.ledger;
  }

  get sum(): number {
    // In tenths, which are exact.
    return [...this.amounts.values()].reduce((sum, each) => sum + Math.round(each * 10), 0) / 10;
  }

  /** Returns whether it was admitted. */
  call(args: JsonObject): boolean {
    // A call that a reviewer has denied is denied again: each is another one.
    const note = `${this.ledger.counts.calls}`;
    const callId = this.run.call({ tool: 'pay', args: { ...args, note }, risk: 'write' });
    const last = this.run.entries.at(-1)!;
    const isAdmitted = last.kind === 'opened' || last.outcome === 'allowed';
    if (isAdmitted) this.amounts.set(callId, args['amount'] as number);
    return isAdmitted;
  }

  play(each: Step): void {
    const { open, outcomes } = this.ledger;
    if (each.kind === 'call') this.call({ amount: each.amount });
    else if (each.kind === 'end') {
      const running = outcomes.filter(({ ran }) => ran === 'pending');
      const { callId } = running[each.which % running.length] ?? {};
      if (callId === undefined) return;
      this.run.send({ kind: 'ran', atMs: this.run.atMs, callId, ran: each.ran });
      if (each.ran === 'no') this.amounts.delete(callId);
    } else if (open.length > 0) this.#settle(open[each.which % open.length]!, each);
  }

  #settle(
    { callId, request: { requestId } }: Ledger['open'][number],
    { how, amount: edited }: Step & { kind: 'settle' },
  ) {
    const { atMs } = this.run;
    if (how === 'expire' || how === 'cancel') this.run.send({ kind: how, atMs, requestId });
    else {
      const approved = how === 'approve' || how === 'edit';
      const decision = { requestId, approved, ...(how === 'respond' && { response: 'done' }) };
      const edit = { arguments: { amount: edited }, digest: 'e'.repeat(64), reversible: true };
      this.run.send({ kind: 'decide', atMs, decision, voter: claimedBy('ann'), ...(how === 'edit' && { edit }) });
    }
    if (how === 'edit') this.amounts.set(callId, edited);
    else if (how !== 'approve') this.amounts.delete(callId);
  }
}

const isEdit = (each: Step): boolean => each.kind === 'settle' && each.how === 'edit';

test('the sum is that of the calls that were admitted and may run, run or have run', () => {
  fc.assert(
    fc.property(fc.constantFrom(strict, mild), steps, (policy, played) => {
      const calls = new Calls(policy);
      for (const each of played) {
        calls.play(each);
        expect(sumOf(calls.ledger.sums, 'pay', 'amount')).toBe(calls.sum);
      }
      // What is over gives nothing back, so that the state stays small.
      const mayEnd = calls.ledger.outcomes.filter(({ ran }) => ran === 'pending').map(({ callId }) => callId);
      const held = [...mayEnd, ...calls.ledger.open.map(({ callId }) => callId)];
      expect((calls.ledger.sums?.held ?? []).map(({ callId }) => callId).toSorted()).toEqual(held.toSorted());
    }),
    { numRuns: runs(400) },
  );
});

test('what was admitted never exceeds the bound, and what fits is admitted', () => {
  fc.assert(
    fc.property(steps, (played) => {
      const calls = new Calls(strict);
      for (const each of played.filter((any) => !isEdit(any))) {
        const { sum } = calls;
        if (each.kind === 'call') expect(calls.call({ amount: each.amount })).toBe(sum + each.amount <= bound);
        else calls.play(each);
        expect(calls.sum).toBeLessThanOrEqual(bound);
      }
    }),
    { numRuns: runs(400) },
  );
});

test('once nothing runs that was admitted, nothing is left of it', () => {
  fc.assert(
    fc.property(fc.array(amount, { minLength: 1, maxLength: 20 }), (amounts) => {
      const calls = new Calls(strict);
      for (const each of amounts) calls.call({ amount: each });
      for (const { request } of calls.ledger.open) {
        calls.run.send({ kind: 'cancel', atMs: calls.run.atMs, requestId: request.requestId });
      }
      expect(calls.ledger.sums).toEqual({ tools: [], held: [] });
      expect(calls.call({ amount: bound })).toBe(true);
    }),
    { numRuns: runs(200) },
  );
});

test('a change of policy rules on open requests in their order, each without its own share', () => {
  fc.assert(
    fc.property(fc.array(amount, { maxLength: 12 }), (amounts) => {
      const calls = new Calls(policyOf({ pattern: 'pay', action: 'ask' }));
      for (const each of amounts) calls.call({ amount: each });
      calls.run.change({ ceiling: mild });
      const waiting = new Set(calls.ledger.open.map(({ callId }) => callId));
      let before = 0;
      for (const [callId, each] of calls.amounts) {
        const sum = Math.round((before + each) * 10) / 10;
        expect([callId, waiting.has(callId)]).toEqual([callId, sum > bound]);
        before = sum;
      }
      expect(verifyEvidence(calls.run.entries, calls.run.evidence).differing).toEqual([]);
    }),
    { numRuns: runs(200) },
  );
});

test('an audit rules again on every call, by the journal and the calls alone', () => {
  fc.assert(
    fc.property(fc.constantFrom(strict, mild), steps, (policy, played) => {
      const calls = new Calls(policy);
      for (const each of played.filter((any) => !isEdit(any))) calls.play(each);
      const { entries, evidence } = calls.run;
      const { agreed, differing, notReRuled } = verifyEvidence(entries, evidence);
      expect({ differing, notReRuled }).toEqual({ differing: [], notReRuled: [] });
      expect(agreed).toHaveLength(evidence.rulings.length);
    }),
    { numRuns: runs(200) },
  );
});

test.each<[string, JsonObject]>([
  ['no such argument', {}],
  ['a text', { amount: '5' }],
  ['a number below 0, which would make room for others', { amount: -5 }],
])('after a call with %s no sum is known, until it gives its share back', (_, args) => {
  const run = new RecordedRulings({ ceiling: policyOf({ pattern: 'pay', action: 'ask' }) }, 'ops', {});
  run.call({ tool: 'pay', args: { amount: 1 }, risk: 'write' });
  run.call({ tool: 'pay', args, risk: 'write' });
  const sum = () => sumOf(run.ledger.sums, 'pay', 'amount');
  expect(sum()).toBeUndefined();
  const { requestId } = run.ledger.open[1]!.request;
  run.send({ kind: 'decide', atMs: run.atMs, decision: { requestId, approved: false } });
  expect(sum()).toBe(1);
});

test('a model that invents arguments fills no run, and makes no sum smaller', () => {
  const run = new RecordedRulings({ ceiling: policyOf({ pattern: 'pay', action: 'allow' }) }, 'ops', {});
  for (let call = 0; call < 5; call += 1) {
    const invented = Array.from({ length: 40 }, (_, index) => [`x${call}.${index}`, 1]);
    run.call({ tool: 'pay', args: { amount: 3, ...Object.fromEntries(invented) }, risk: 'write' });
  }
  expect(run.ledger.sums!.tools[0]!.arguments).toHaveLength(50);
  expect(sumOf(run.ledger.sums, 'pay', 'amount')).toBe(15);
  expect(sumOf(run.ledger.sums, 'pay', 'x4.1')).toBeUndefined();
  expect(sumOf(run.ledger.sums, 'pay', 'toString')).toBeUndefined();
  expect(sumOf(run.ledger.sums, '__proto__', 'amount')).toBe(0);
});
