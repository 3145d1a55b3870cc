import { evidenceOfParts, type EvidencePart } from './evidence-parts.ts';
import type { AuditedEntry } from './evidence.ts';
import { verifyEvidence } from './verify-evidence.ts';

/** A run of an export: its entries, each with the members that are withheld, and its evidence. */
export interface ExportedRun {
  entries: readonly { entry: object; withheld?: Readonly<Record<string, unknown>> }[];
  evidence: readonly EvidencePart[];
}

/** Rules again on the calls of an exported run. The note counts the rulings: those that agree and, by reason, the others. */
export function ruleRunAgain({ entries, evidence: parts }: ExportedRun): {
  findings: { seq: number; message: string }[];
  notes: string[];
} {
  const read = evidenceOfParts(parts);
  if ('problem' in read) return { findings: [{ seq: 1, message: read.problem }], notes: [] };
  const audited = entries.map(
    ({ entry, withheld = {} }) => ({ ...entry, withheld: Object.keys(withheld) }) as unknown as AuditedEntry,
  );
  const { agreed, differing, notReRuled } = verifyEvidence(audited, read.evidence);
  const reasons = new Map<string, number>();
  for (const { why } of notReRuled) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  const findings = differing.map(({ seq, sentence }) => ({ seq, message: sentence }));
  const left = [...reasons].map(([why, count]) => `${count} not ruled on again: ${why}`);
  return { findings, notes: [`${agreed.length} rulings agree`, ...left] };
}
