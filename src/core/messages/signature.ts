/**
 * A signature covers one message to one run in one namespace: the RFC 8785 text of the message without
 * `signature.value`, with `action`, `namespace` and `workflowId` (docs/wire.md). A signed decision cannot be used for
 * another request, because a request id is used only once. So no clock is needed here.
 */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { bytesFromBase64, isSignedBy } from '../base/digest.ts';
import { canonicalJson } from '../base/canonical-json.ts';

/** The name of the signal or update that carries the message. */
export type SignedAction = 'decide' | 'setPolicy' | 'revoke' | 'extend' | 'delegate';

/** A message to a run, with its fields as received, not as parsed. */
export interface Addressed {
  action: SignedAction;
  message: object;
  namespace: string;
  workflowId: string;
}

const addedFields = ['action', 'namespace', 'workflowId'] as const;

/**
 * The signed text. Throws a `ProblemError` (`arguments_invalid`) for a message without canonical JSON.
 *
 * @example
 * const to = { action: 'revoke', namespace: 'default', workflowId: 'w', message: { grants: 'all', signature: { keyId: 'k' } } };
 * signedText(to); // => '{"action":"revoke","grants":"all","namespace":"default","signature":{"keyId":"k"},"workflowId":"w"}'
 */
export function signedText({ message, action, namespace, workflowId }: Addressed): string {
  const { signature, ...fields } = message as { signature?: unknown };
  const { value: _, ...signed } = (signature ?? {}) as { value?: unknown };
  return canonicalJson({ ...fields, signature: signed, action, namespace, workflowId });
}

/** True if the key (32 bytes, base64) signed this message. Never throws. Takes 1 to 2 ms, the first time 30 ms. */
export function verifySignature({ publicKey, ...addressed }: Addressed & { publicKey: string }): boolean {
  try {
    const { signature, ...fields } = addressed.message as { signature?: { value?: unknown } };
    // A field of the message with such a name could pass for the added field.
    if (addedFields.some((name) => Object.hasOwn(fields, name))) return false;
    const value = signature?.value;
    const bytes = typeof value === 'string' ? bytesFromBase64(value) : undefined;
    const key = bytesFromBase64(publicKey);
    if (bytes === undefined || key === undefined) return false;
    return isSignedBy(key, utf8ToBytes(signedText(addressed)), bytes);
  } catch {
    return false;
  }
}
