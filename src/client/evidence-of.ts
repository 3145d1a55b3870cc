/**
 * The evidence of a run's rulings, read from the decoded histories of its executions: the policies, calls and contexts
 * that `core/audit/verify-evidence.ts` rules again on. Decides nothing: what is not in the histories is listed as missing.
 */
import type { EvidenceCall, EvidencePolicies, RunEvidence, Standing } from '../core/audit/evidence.ts';
import { rulingsOf } from '../core/audit/rulings-of.ts';
import { standingOf } from '../core/audit/standing-of.ts';
import { jsonDigest } from '../core/base/digest.ts';
import type { Json } from '../core/base/tool-call.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import type { PolicyLayers } from '../core/policy/policy.ts';
import { EvidenceCalls } from './evidence-calls.ts';
import { entriesOf } from './fetch-journal.ts';
import type { ReadExecution } from './history-chain.ts';
import { historyFacts, type HistoryFacts } from './history-facts.ts';
import { PolicyTimeline } from './policy-timeline.ts';

/** Reads the evidence of a run from its executions, oldest first. */
export function evidenceOf(
  executions: readonly ReadExecution[],
  facts = historyFacts(executions),
): { entries: JournalEntry[]; evidence: RunEvidence } {
  const entries = entriesOf(executions);
  const evidence: RunEvidence = { version: 1, policies: {}, calls: {}, contexts: {}, rulings: [], missing: [] };
  const calls = new EvidenceCalls(facts);
  const keyOf = (call: EvidenceCall): string => kept(evidence.calls, call);
  const start = startOf(facts, calls, keyOf);
  if (start !== undefined) evidence.start = start;
  const asked = new Set(rulingsOf(entries, start));
  const policies = new PolicyTimeline(facts.policies);
  for (const entry of entries) {
    const { seq } = entry;
    const found = policies.at(entry);
    if (!asked.has(entry)) continue;
    const call = calls.of(entry, policies.toolsOf(found.agent));
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
      context: kept(evidence.contexts, contextAt(facts, Date.parse(entry.at))),
      agent: found.agent,
    });
  }
  return { entries, evidence };
}

function startOf(
  { policies: { carried } }: HistoryFacts,
  calls: EvidenceCalls,
  keyOf: (call: EvidenceCall) => string,
): Standing | undefined {
  if (carried === undefined) return undefined;
  return standingOf(carried.gate.ledger, (record) => {
    const call = calls.ofRecord(record);
    return call === undefined ? undefined : keyOf(call);
  });
}

function contextAt({ contexts }: HistoryFacts, atMs: number) {
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
