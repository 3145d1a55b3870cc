import type { RuledAgain } from './finding.ts';
import { evidenceOfParts, type EvidencePart, type AuditedEntry } from './evidence.ts';
import { verifyEvidence } from './verify-evidence.ts';

export interface ExportedRun {
  entries: readonly { entry: object; withheld?: Readonly<Record<string, unknown>> }[];
  evidence: readonly EvidencePart[];
}

/** Evaluates the policies on the calls of an exported run again, if it has evidence. Never throws. */
export function ruleRunAgain({ entries, evidence: parts }: ExportedRun): RuledAgain {
  if (parts.length === 0) return { findings: [], agreed: 0, notMade: [] };
  const read = evidenceOfParts(parts);
  if ('problem' in read) return { findings: [{ message: read.problem }], agreed: 0, notMade: [] };
  const audited = entries.map(
    ({ entry, withheld = {} }) => ({ ...entry, withheld: Object.keys(withheld) }) as unknown as AuditedEntry,
  );
  const { agreed, differing, notReRuled } = verifyEvidence(audited, read.evidence);
  const findings = differing.map(({ seq, sentence }) => ({ seq, message: sentence }));
  return { findings, agreed: agreed.length, notMade: notReRuled.map(({ why }) => why) };
}
