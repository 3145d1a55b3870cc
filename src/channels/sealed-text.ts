import { hkdfSync, randomBytes, type KeyObject } from 'node:crypto';
import { EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose';

const purposes = ['session', 'login', 'link', 'account', 'account-link', 'push'] as const;
/** What a sealed text is for. One that was made for another purpose is not valid. */
export type Purpose = (typeof purposes)[number];

/** Makes and opens texts that only the holders of one key can make or read. Gateways with the same key share them. */
export interface Seals {
  seal(purpose: Purpose, content: JWTPayload, expiresMs: number): Promise<string>;
  /**
   * Undefined for a text that is not valid: forged, expired, of another purpose or another gateway, or spelled otherwise
   * than it was sealed.
   */
  open(purpose: Purpose, text: string): Promise<JWTPayload | undefined>;
}

const longestText = 8_000;

/** The secrets of a gateway, and which gateway it is. */
export interface SealOptions {
  /** Absent: a key of this process. */
  secret?: KeyObject;
  /** For links alone, so that whoever makes links can make no session. Absent: `secret`. */
  linkSecret?: KeyObject;
  /** The gateway's address. */
  publicUrl?: string;
  /** Temporal's. */
  namespace: string;
}

/**
 * Encrypted JWTs (`dir`, A256GCM). Each purpose has a key of its own, so no text can pass for one of another purpose, and
 * the gateway's address and namespace are part of the key, so two installations with one secret do not share their
 * sessions. Without a secret the key is of this process.
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
 * Base64 has several spellings of the same bytes. What is known by its text, such as a link that was used, has one.
 */
function isSpelledOnce(text: string): boolean {
  return text.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}
