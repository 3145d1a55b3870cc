import { hkdfSync, randomBytes, type KeyObject } from 'node:crypto';
import { EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose';

const purposes = ['session', 'login', 'link', 'account', 'account-link', 'push'] as const;
/** What a sealed text is for. The text cannot be opened for any other purpose. */
export type Purpose = (typeof purposes)[number];

/** Encrypts and authenticates texts with a key. Gateways with the same key can open each other's texts. */
export interface Seals {
  seal(purpose: Purpose, content: JWTPayload, expiresMs: number): Promise<string>;
  /** Opens a sealed text. Undefined if the text is forged, changed or expired, or is for another purpose or gateway. */
  open(purpose: Purpose, text: string): Promise<JWTPayload | undefined>;
}

const longestText = 8_000;

export interface SealOptions {
  /** The secret from which the keys are derived. Absent: a random secret, which no other process has. */
  secret?: KeyObject;
  /** The secret for links. A process that has only this one can make links, but no sessions. Absent: `secret`. */
  linkSecret?: KeyObject;
  publicUrl?: string;
  namespace: string;
}

/**
 * Seals texts as encrypted JWTs (`dir`, A256GCM). The key depends on the purpose, and on the gateway's address and
 * namespace, so two installations with the same secret cannot open each other's texts.
 */
export function createSeals({ secret, linkSecret = secret, publicUrl = '', namespace }: SealOptions): Seals {
  const context = JSON.stringify([publicUrl, namespace]);
  const randomSecret = randomBytes(32);
  const keyOf = (purpose: Purpose): Uint8Array => {
    const material = (purpose === 'link' ? linkSecret : secret)?.export() ?? randomSecret;
    return new Uint8Array(hkdfSync('sha256', material, '', `countersign ${purpose} 1 ${context}`, 32));
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

/** True for the one base64 spelling of its bytes that is accepted: a sealed text also serves as an id of a link. */
function isSpelledOnce(text: string): boolean {
  return text.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}
