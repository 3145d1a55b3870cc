import { hkdfSync, randomBytes, type KeyObject } from 'node:crypto';
import { EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose';

const purposes = ['session', 'login', 'link', 'account', 'account-link', 'push'] as const;
/** The purpose of a sealed text. The text is invalid for any other purpose. */
export type Purpose = (typeof purposes)[number];

/** Seals and opens texts with a key. Gateways with the same key accept each other's texts. */
export interface Seals {
  seal(purpose: Purpose, content: JWTPayload, expiresMs: number): Promise<string>;
  /** Undefined for a text that is forged, expired, of another purpose or gateway, or not spelled as it was sealed. */
  open(purpose: Purpose, text: string): Promise<JWTPayload | undefined>;
}

const longestText = 8_000;

export interface SealOptions {
  /** The secret from which the keys are derived. Absent: a random one, for this process only. */
  secret?: KeyObject;
  /** Another secret for links, so that a process that makes links cannot make sessions. Absent: `secret`. */
  linkSecret?: KeyObject;
  publicUrl?: string;
  namespace: string;
}

/**
 * Encrypted JWTs (`dir`, A256GCM). The key depends on the purpose, and on the gateway's address and namespace, so two
 * installations with the same secret do not share sessions.
 */
export function createSeals({ secret, linkSecret = secret, publicUrl = '', namespace }: SealOptions): Seals {
  const context = JSON.stringify([publicUrl, namespace]);
  const own = randomBytes(32);
  const keyOf = (purpose: Purpose): Uint8Array => {
    const material = purpose === 'link' ? linkSecret : secret;
    return new Uint8Array(hkdfSync('sha256', material?.export() ?? own, '', `countersign ${purpose} 1 ${context}`, 32));
  };
  const keys = Object.fromEntries(purposes.map((each) => [each, keyOf(each)])) as Record<Purpose, Uint8Array>;
  return {
    seal: (purpose, content, expiresMs) =>
      new EncryptJWT({ ...content, purpose })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setExpirationTime(new Date(expiresMs))
        .encrypt(keys[purpose]),
    open: async (purpose, text) => {
      if (text.length > longestText || !isSpelledOnce(text)) return undefined;
      const options = {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        requiredClaims: ['exp', 'purpose'],
      };
      const opened = await jwtDecrypt(text, keys[purpose], options).catch(() => undefined);
      return opened?.payload.purpose === purpose ? opened.payload : undefined;
    },
  };
}

/**
 * Base64 has several spellings of the same bytes, but a text that serves as an identity, such as a used link, must have
 * one.
 */
function isSpelledOnce(text: string): boolean {
  return text.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}
