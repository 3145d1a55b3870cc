import type { Assessment } from '../../src/core/assess/assessment.ts';
import type { Evidence, EvidenceCall, RunEvidence } from '../../src/audit/evidence.ts';
import type { EvidenceContext } from '../../src/core/ledger/recorded-context.ts';
import { callDigest, jsonDigest } from '../../src/core/base/digest.ts';
import type { Json } from '../../src/core/base/tool-call.ts';
import { admittedBefore } from '../../src/core/ledger/argument-sums.ts';
import { answerBefore } from '../../src/core/ledger/admission.ts';
import type { JournalEntry } from '../../src/core/ledger/journal-entry.ts';
import { emptyLedger, iso, reduce, type Ledger, type LedgerCommand } from '../../src/core/ledger/ledger.ts';
import { compileRules, ruleCase, type RunRules } from '../../src/core/ledger/rule-case.ts';
import { reviewersOf, whyAsked } from '../../src/core/ledger/waiting-for.ts';
import { sameTerms } from '../../src/core/policy/ask-terms.ts';
import { policyDigest, type PolicyLayers } from '../../src/core/policy/policy.ts';
import { engine, type RuledCall } from '../../src/core/policy/ruling.ts';
import { requestIdOf, requestRecord } from '../support/record-request.ts';

const definition = 'd'.repeat(64);

/**
 * A run's gate without Temporal: it rules, and its journal is that of the ledger. In the same order as the gate's files
 * (admit-call.ts, reevaluate-open.ts), and with the evidence that the client reads from a history.
 */
export class RecordedRulings {
  readonly entries: JournalEntry[] = [];
  readonly evidence: RunEvidence = { version: 1, policies: {}, calls: {}, contexts: {}, rulings: [], missing: [] };
  readonly #agent: string;
  readonly #context: EvidenceContext;
  #ledger: Ledger;
  #rules: RunRules;
  #atMs = 1_000;
  #isNamed = false;
  /** The calls of the open requests. */
  readonly #calls = new Map<string, EvidenceCall & { args: RuledCall['args'] }>();

  constructor(policies: PolicyLayers, agent: string, context: EvidenceContext) {
    this.#agent = agent;
    this.#context = context;
    this.#ledger = emptyLedger(engine);
    this.#rules = compileRules(policies);
  }

  get ledger(): Ledger {
    return this.#ledger;
  }

  /** Returns the id of the call. */
  call(ruled: RuledCall, assessed?: Assessment): string {
    const atMs = (this.#atMs += 7);
    const { tool, args, risk } = ruled;
    const digest = callDigest({ tool, args, definition });
    const callId = `1.${this.#ledger.counts.calls + 1}`;
    const call = { ...ruled, definition, ...(assessed && { assessed }) };
    const found = this.#rule(call, digest);
    const { ruling, assessment, limits, terms } = found;
    const { reversible } = assessment;
    const common = { kind: 'rule', atMs, callId, toolName: tool, digest } as const;
    const early = answerBefore(this.#ledger, ruling, { ruled, digest, reversible, atMs }, limits);
    if (ruling.action === 'deny') this.#apply({ ...common, outcome: 'denied_by_policy', ruling }, call);
    else if (early !== undefined) {
      const { outcome, reason, grantId } = early;
      this.#apply({ ...common, outcome, reason, grantId }, call);
    } else if (ruling.action === 'allow')
      this.#apply({ ...common, outcome: 'allowed', ruling, reversible, args }, call);
    else {
      const number = this.#ledger.counts.asks + 1;
      const shown = { toolName: tool, arguments: args, riskLevel: risk, assessment, digest, requestedAt: iso(atMs) };
      const callerUserId = this.#context.caller?.userId ?? null;
      const { subject, shell, beside } = ruled;
      const declared = { definition, subject, shell, beside, assessment: assessed };
      const record = {
        ...requestRecord(number, null, { ...shown, callerUserId, rule: ruling.rule }, terms),
        callId,
        ruled: declared,
      };
      this.#calls.set(requestIdOf(number), call);
      this.#apply({ kind: 'open', atMs, record, ruling }, call);
    }
    return callId;
  }

  send(command: LedgerCommand): void {
    this.#apply(command);
  }

  get atMs(): number {
    return (this.#atMs += 3);
  }

  change(policies: PolicyLayers): void {
    const atMs = (this.#atMs += 5);
    this.#rules = compileRules(policies);
    this.#apply({ kind: 'policy', atMs, policyDigest: policyDigest(policies) });
    for (const record of this.#ledger.open) {
      const { requestId, digest, riskLevel } = record.request;
      const call = this.#calls.get(requestId)!;
      const { ruling, terms, assessment } = this.#rule(call, digest, record.callId);
      const { rule } = ruling;
      if (ruling.action !== 'ask') {
        this.#apply({ kind: 'supersede', atMs, requestId, runs: ruling.action === 'allow', ruling }, call);
      } else if (!sameTerms(record.terms, terms) || record.request.rule !== rule) {
        const reason = whyAsked(ruling, riskLevel);
        const reviewers = reviewersOf(terms, atMs - Date.parse(record.request.requestedAt));
        this.#apply({ kind: 'updateTerms', atMs, requestId, terms, request: { rule, reason, reviewers, assessment } });
      }
    }
  }

  #rule(call: EvidenceCall & { args: RuledCall['args'] }, digest: string, callId?: string) {
    const run = { agent: this.#agent, ...this.#context };
    return ruleCase(this.#rules, { ...call, digest }, run, admittedBefore(this.#ledger, callId), this.#atMs);
  }

  #apply(command: LedgerCommand, ofCall?: EvidenceCall): void {
    const { ledger, entries } = reduce(this.#ledger, command, this.#rules.directories);
    this.#ledger = JSON.parse(JSON.stringify(ledger)) as Ledger;
    for (const entry of entries) {
      const { seq, kind, requestId = '' } = entry;
      const isOfCall = kind === 'ruling' || kind === 'opened';
      const named = isOfCall && !this.#isNamed ? { policyDigest: policyDigest(this.#rules.policies) } : {};
      this.#isNamed ||= isOfCall || kind === 'policy';
      const written = { ...entry, ...(isOfCall && { agent: this.#agent }), ...named };
      this.entries.push(JSON.parse(JSON.stringify(written)) as JournalEntry);
      const call = ofCall ?? this.#calls.get(requestId);
      const isRuling = isOfCall || kind === 'reruled' || entry.outcome === 'superseded';
      if (isRuling && call !== undefined) this.evidence.rulings.push(this.#evidence(seq, call));
    }
  }

  #evidence(seq: number, call: EvidenceCall): Evidence {
    const { ceiling, parents, run } = this.#rules.policies;
    const { policies, calls, contexts } = this.evidence;
    return {
      seq,
      policies: {
        ...(ceiling && { ceiling: kept(policies, ceiling) }),
        ...(parents && { parents: parents.map((each) => kept(policies, each)) }),
        ...(run && { run: kept(policies, run) }),
      },
      call: kept(calls, call),
      context: kept(contexts, this.#context),
      agent: this.#agent,
    };
  }
}

function kept<Value>(all: Record<string, Value>, value: Value): string {
  const digest = jsonDigest(value as Json);
  all[digest] = JSON.parse(JSON.stringify(value)) as Value;
  return digest;
}
