import { hkdfSync, randomBytes, type KeyObject } from 'node:crypto';
import { EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose';

/** What a sealed text is for. One that was made for another purpose is not valid. */
export type Purpose = 'session' | 'login' | 'link';

/** Makes and opens texts that only the holders of one key can make or read. Gateways with the same key share them. */
export interface Seals {
  seal(purpose: Purpose, content: JWTPayload, expiresMs: number): Promise<string>;
  /** Undefined for a text that is not valid: forged, expired, of another purpose, another gateway. */
  open(purpose: Purpose, text: string): Promise<JWTPayload | undefined>;
}

const longestText = 8_000;

/**
 * Encrypted JWTs (`dir`, A256GCM). Each purpose has a key of its own, so no text can pass for one of another purpose, and
 * the gateway's address and namespace are part of the key, so two installations with one secret do not share their
 * sessions. Without a secret the key is of this process.
 */
export function createSeals(secret: KeyObject | undefined, context: string): Seals {
  const material = secret?.export() ?? randomBytes(32);
  const keyOf = (purpose: Purpose): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', material, '', `countersign ${purpose} 1 ${context}`, 32));
  const keys = { session: keyOf('session'), login: keyOf('login'), link: keyOf('link') };
  return {
    seal: (purpose, content, expiresMs) =>
      new EncryptJWT({ ...content, purpose })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setExpirationTime(new Date(expiresMs))
        .encrypt(keys[purpose]),
    open: async (purpose, text) => {
      if (text.length > longestText) return undefined;
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
