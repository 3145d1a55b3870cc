import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { checkCallOptions } from '../../text/check-call-options.ts';
import type { AuditVerdict, VerifierOptions } from '../../audit/finding.ts';
import { AuditVerifier } from '../../audit/audit-verifier.ts';
import { ruleRunAgain } from '../../audit/rule-run-again.ts';
import { isPublicKey } from '../../core/base/digest.ts';

/** A line of a file, or the reason why it cannot be read. */
export type AuditText = { text: string } | { problem: string };

/** Options of `verifyAudit`. */
export interface VerifyAuditOptions extends Pick<VerifierOptions, 'publicKey' | 'since'> {
  /** A function that is called with each line that can be read, in order. */
  onLine?: (text: string) => void;
}

/**
 * Verifies an export without a server. It reads line by line, so a file may be larger than the memory. Never throws for
 * the content of lines; throws `arguments_invalid` for an unknown option.
 *
 * @example
 * ```ts
 * import { createClient, verifyAudit } from 'countersign/client';
 *
 * const client = await createClient();
 * const run = await client.start('clerk', 'Where is order 7?');
 * await run.result();
 * const lines: { text: string }[] = [];
 * for await (const line of client.audit(run.workflowId)) lines.push({ text: JSON.stringify(line) });
 * const { ok, findings } = await verifyAudit(lines.toSpliced(1, 1));
 * console.log(ok, findings[0]?.kind); // false deleted
 * console.log((await verifyAudit(lines)).ok); // true
 * await client.close();
 * ```
 */
export async function verifyAudit(
  lines: AsyncIterable<AuditText> | Iterable<AuditText>,
  options: VerifyAuditOptions = {},
): Promise<AuditVerdict> {
  checkCallOptions('verifyAudit', options, { publicKey: true, since: true, onLine: true });
  const { onLine, ...checks } = options;
  const verifier = new AuditVerifier({ ruleAgain: ruleRunAgain, ...checks, isSigned: signatureCheck() });
  for await (const line of lines) {
    verifier.take(line);
    if ('text' in line) onLine?.(line.text);
  }
  return verifier.end();
}

/** The bytes before the 32 bytes of an Ed25519 public key in its SPKI form (RFC 8410). */
const prefix = Buffer.from('302a300506032b6570032100', 'hex');

/** Returns a check of signatures with Node's Ed25519, which is faster than the core's. `isPublicKey` refuses weak keys. */
function signatureCheck(): VerifierOptions['isSigned'] {
  const keys = new Map<string, KeyObject | undefined>();
  return (publicKey, text, signature) => {
    if (!keys.has(publicKey)) keys.set(publicKey, importPublicKey(publicKey));
    const key = keys.get(publicKey);
    const bytes = Buffer.from(signature, 'base64');
    return key !== undefined && bytes.length === 64 && verify(null, Buffer.from(text), key, bytes);
  };
}

function importPublicKey(publicKey: string): KeyObject | undefined {
  const bytes = Buffer.from(publicKey, 'base64');
  if (bytes.length !== 32 || !isPublicKey(bytes)) return undefined;
  return createPublicKey({ key: Buffer.concat([prefix, bytes]), type: 'spki', format: 'der' });
}
