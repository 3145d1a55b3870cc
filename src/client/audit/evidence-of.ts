/**
 * The evidence of a run's rulings, read from the decoded histories of its executions: the policies, calls and contexts
 * that `audit/verify-evidence.ts` rules again on. Decides nothing: data that the histories lack is listed as missing.
 */
import type { EvidenceCall, EvidencePolicies, RunEvidence, Standing } from '../../audit/evidence.ts';
import type { EvidenceContext } from '../../core/ledger/recorded-context.ts';
import { rulingsOf } from '../../audit/rule-again.ts';
import { standingOf } from '../../audit/standing.ts';
import { jsonDigest } from '../../core/base/digest.ts';
import { isObject } from '../../core/base/json.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { policiesOf, type RecordedPolicies } from '../../events/recorded-policies.ts';
import type { JournalEntry } from '../../core/ledger/journal-entry.ts';
import type { PolicyLayers } from '../../core/policy/policy.ts';
import { runLimitsOf } from '../../core/policy/run-limits.ts';
import { EvidenceCalls } from './evidence-calls.ts';
import { entriesOf } from '../history/fetch-journal.ts';
import type { ReadExecution } from '../history/history-chain.ts';
import { PolicyTimeline } from './policy-timeline.ts';

/** Reads the evidence of a run from its executions, oldest first. */
export function evidenceOf(
  executions: readonly ReadExecution[],
  policies = policiesOf(executions),
): { entries: JournalEntry[]; evidence: RunEvidence } {
  const entries = entriesOf(executions);
  const evidence: RunEvidence = { version: 1, policies: {}, calls: {}, contexts: {}, rulings: [], missing: [] };
  const calls = new EvidenceCalls(executions, policies.pasts);
  const keyOf = (call: EvidenceCall): string => kept(evidence.calls, call);
  const start = startOf(policies, calls, keyOf);
  if (start !== undefined) evidence.start = start;
  const asked = new Set(rulingsOf(entries, start));
  const contexts = contextsOf(executions);
  const timeline = new PolicyTimeline(policies);
  for (const entry of entries) {
    const { seq } = entry;
    const found = timeline.at(entry);
    if (!asked.has(entry)) continue;
    const limits = found.layers && runLimitsOf(found.layers);
    const call = calls.of(entry, timeline.toolsOf(found.agent), limits);
    if (found.layers === undefined) {
      evidence.missing.push({ seq, why: found.why });
      continue;
    }
    if (call === undefined) {
      evidence.missing.push({ seq, why: 'the history does not keep its call' });
      continue;
    }
    evidence.rulings.push({
      seq,
      policies: keptLayers(evidence, found.layers),
      call: keyOf(call),
      context: kept(evidence.contexts, contextAt(contexts, Date.parse(entry.at))),
      agent: found.agent,
    });
  }
  return { entries, evidence };
}

function startOf(
  { carried }: RecordedPolicies,
  calls: EvidenceCalls,
  keyOf: (call: EvidenceCall) => string,
): Standing | undefined {
  if (carried === undefined) return undefined;
  return standingOf(carried.gate.ledger, (record) => {
    const call = calls.ofRecord(record);
    return call === undefined ? undefined : keyOf(call);
  });
}

interface Context {
  sinceMs: number;
  context: EvidenceContext;
}

/** The caller and the metadata of the run, from the start of each execution on. */
function contextsOf(executions: readonly ReadExecution[]): Context[] {
  return executions.map(({ events }) => {
    let context: EvidenceContext = { unknown: ['caller', 'metadata'] };
    for (const { what } of events) {
      if (what?.kind === 'started' && isObject(what.input) && !isUndecodable(what.input)) {
        const { caller, metadata } = what.input as EvidenceContext;
        context = { ...(caller !== undefined && { caller }), ...(metadata !== undefined && { metadata }) };
      }
      // In a custom workflow only the workflow's code knows the context, and it passes the context to an activity.
      const activity = what?.kind === 'scheduled' ? what.activity : undefined;
      if (activity?.kind !== 'config' && activity?.kind !== 'verified') continue;
      if (isObject(activity.given['context'])) context = activity.given['context'];
    }
    return { sinceMs: Date.parse(events[0]?.at ?? ''), context };
  });
}

function contextAt(contexts: readonly Context[], atMs: number): EvidenceContext {
  return (contexts.findLast(({ sinceMs }) => sinceMs <= atMs) ?? contexts[0])!.context;
}

function keptLayers({ policies }: RunEvidence, { ceiling, parents, run }: PolicyLayers): EvidencePolicies {
  return {
    ...(ceiling && { ceiling: kept(policies, ceiling) }),
    ...(parents && { parents: parents.map((each) => kept(policies, each)) }),
    ...(run && { run: kept(policies, run) }),
  };
}

/** Keeps a value under the digest of its canonical JSON. */
function kept<Value>(all: Record<string, Value>, value: Value): string {
  const digest = jsonDigest(value as Json);
  all[digest] = value;
  return digest;
}
