import { admittedBefore } from '../../core/ledger/argument-sums.ts';
import type { Receipt } from '../../core/ledger/approval.ts';
import { sameTerms, termsOfWait } from '../../core/policy/ask-terms.ts';
import { policyDigest } from '../../core/policy/policy.ts';
import { sentences } from '../../core/ledger/sentences.ts';
import type { RulingMeter } from '../../core/match/ruling-meter.ts';
import { openedAtMs } from '../../core/ledger/escalation.ts';
import { requestOf, type RequestRecord, type LedgerCommand } from '../../core/ledger/ledger.ts';
import { shownArguments } from '../../core/ledger/shown-arguments.ts';
import { reviewersOf, whyAsked } from '../../core/ledger/waiting-for.ts';
import { clock } from '../sandbox/clock.ts';
import { redactionFor } from './redact-request.ts';
import type { GateState } from './gate-state.ts';
import type { ActivePolicies } from './active-policies.ts';

type PolicyCommand = Extract<LedgerCommand, { kind: 'policy' }>;

/**
 * Records a change of the policies in the journal, and rules again on every request that was open when the change was
 * sent. Returns the requests that this settled (I14). `sentAtMs`: infinity if it is unknown. `meter`: gets what it costs.
 */
export function reevaluateOpen(
  state: GateState,
  rules: ActivePolicies,
  sentAtMs: number,
  change: Pick<PolicyCommand, 'voter' | 'reason' | 'operatorMs'>,
  meter: RulingMeter = { work: 0 },
): { policyDigest: string; settled: NonNullable<Receipt['settled']> } {
  const digest = policyDigest(rules.policies);
  state.apply({ kind: 'policy', atMs: clock.nowMs, policyDigest: digest, ...change });
  const atMs = Math.min(sentAtMs, clock.nowMs);
  const waiting = state.ledger.open.filter(({ deadlineMs }) => deadlineMs === null || atMs <= deadlineMs);
  for (const record of waiting) {
    const { requestId } = record.request;
    if (state.isSpent(meter)) state.apply({ kind: 'cancel', atMs, requestId, reason: sentences.notRuledAgain });
    else reevaluate(state, rules, record, { atMs, among: waiting.length, meter });
  }
  const settled = waiting.flatMap(({ request: { requestId } }) => {
    const found = requestOf(state.ledger, requestId);
    return found !== undefined && 'settlement' in found ? [{ requestId, outcome: found.settlement.outcome }] : [];
  });
  return { policyDigest: digest, settled };
}

function reevaluate(
  state: GateState,
  rules: ActivePolicies,
  record: RequestRecord,
  { atMs, among, meter }: { atMs: number; among: number; meter: RulingMeter },
): void {
  const { request, ruled, terms: termsBefore, deadlineMs } = record;
  const { requestId, toolName: tool, arguments: args, riskLevel: risk, digest } = request;
  const { assessment: assessed, ...declared } = ruled;
  const call = { tool, args, risk, digest, assessed, ...declared };
  const before = admittedBefore(state.ledger, record.callId);
  const { ruling, rulePlace, terms: asked, assessment, show, redact } = rules.rule(call, before, atMs, meter);
  if (ruling.action !== 'ask') {
    state.apply({ kind: 'supersede', atMs, requestId, runs: ruling.action === 'allow', ruling });
    return;
  }
  // What was hidden stays hidden. Patterns that nobody has applied to these arguments hide them as a whole.
  const redaction = redact === undefined ? record.redaction : redactionFor({ ...record, args }, redact, among);
  const hidden = record.hidden ?? (redact !== undefined && redaction === undefined ? true : undefined);
  const shown = hidden === true ? undefined : shownArguments(args, show, redaction?.values);
  const { shownArguments: shownBefore, notShown } = request;
  const isShown = JSON.stringify({ shownArguments: shownBefore, notShown }) === JSON.stringify({ ...shown });
  if (!isShown || hidden !== record.hidden || redaction?.settings !== record.redaction?.settings) {
    state.apply({ kind: 'show', requestId, shown: { ...shown }, hidden, redaction: redaction ?? record.redaction });
  }
  const waitMs = deadlineMs === null ? null : deadlineMs - openedAtMs({ request });
  const terms = termsOfWait(asked, waitMs);
  if (sameTerms(termsBefore, terms) && request.rule === ruling.rule) return;
  const { rule } = ruling;
  const reason = whyAsked(ruling, risk);
  const reviewers = reviewersOf(terms, atMs - openedAtMs({ request }));
  state.apply({
    kind: 'updateTerms',
    atMs,
    requestId,
    terms,
    request: { rule, rulePlace, reason, reviewers, assessment },
  });
}
