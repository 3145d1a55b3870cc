import type { CountersignClient } from '../../src/client/countersign-client.ts';
import { LiveComparison } from '../../src/client/audit/verify-live.ts';
import { verifyAudit } from '../../src/client/audit/verify-audit.ts';
import type { AuditVerdict } from '../../src/audit/finding.ts';
import { createReviewerKey } from '../../src/client/send/sign-message.ts';

const { publicKey, privateKey } = createReviewerKey();

/** Exports the audit of a run, signed, and verifies it with the key and with the history on the server. */
export async function auditOf(client: CountersignClient, workflowId: string): Promise<AuditVerdict> {
  const texts: { text: string }[] = [];
  for await (const line of client.audit(workflowId, { privateKey })) texts.push({ text: JSON.stringify(line) });
  const live = new LiveComparison(client.session);
  const verdict = await verifyAudit(texts, { publicKey, onLine: (text) => live.take(text) });
  const { findings, notes } = await live.end();
  return {
    ...verdict,
    ok: verdict.ok && findings.length === 0,
    findings: [...verdict.findings, ...findings],
    notes: [...verdict.notes, ...notes],
  };
}
