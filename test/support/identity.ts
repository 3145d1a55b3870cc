import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GatewayIdentity } from '../../packages/gateway/src/http/identity/identity.ts';
import { readIdentityFile } from '../../packages/gateway/src/http/identity/identity-file.ts';
import type { Role } from '../../packages/gateway/src/http/identity/principal.ts';

/** A token as an operator makes it, and its entry in an identity file. */
export interface TestToken {
  token: string;
  entry: Record<string, unknown>;
  /** The headers of a request with it. */
  bearer: { authorization: string };
}

export function makeToken(id: string, roles: readonly Role[], more: Record<string, unknown> = {}): TestToken {
  const token = randomBytes(32).toString('hex');
  const sha256 = createHash('sha256').update(token).digest('hex');
  return { token, entry: { id, sha256, roles, ...more }, bearer: { authorization: `Bearer ${token}` } };
}

/** Reads a document as an identity file; the file is gone afterwards. */
export function identityOf(document: object | string, env: NodeJS.ProcessEnv = {}): GatewayIdentity {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-identity-'));
  try {
    const file = join(folder, 'identity.yaml');
    writeFileSync(file, typeof document === 'string' ? document : JSON.stringify(document));
    return readIdentityFile(file, env);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The value that a response sets for a cookie, as a request sends it back; undefined if it sets none. */
export function cookieOf(response: Response, name: string): string | undefined {
  const line = response.headers.getSetCookie().find((each) => each.startsWith(`${name}=`));
  return line?.split(';')[0];
}
