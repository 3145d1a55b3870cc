import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ofThisMachine = 'subjectAltName=IP:127.0.0.1';

/** Writes `name.pem` and `name.key` into a folder: a certificate of 127.0.0.1 that `by` signs, or an authority. */
export function makeCertificate(
  folder: string,
  name: string,
  by?: string,
  extensions = [by === undefined ? 'basicConstraints=critical,CA:TRUE' : ofThisMachine],
): void {
  const file = (written: string): string => join(folder, written);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', file(`${name}.key`)];
  const words = ['req', '-x509', '-days', '2', ...key, '-out', file(`${name}.pem`), '-subj', `/CN=${name}`];
  const added = extensions.flatMap((extension) => ['-addext', extension]);
  const signer = by === undefined ? [] : ['-CA', file(`${by}.pem`), '-CAkey', file(`${by}.key`)];
  execFileSync('openssl', [...words, ...added, ...signer], { stdio: 'pipe' });
}

/** A certificate of this machine alone, signed by itself. */
export function selfSigned(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-certificate-'));
  try {
    makeCertificate(folder, 'own', undefined, [ofThisMachine]);
    return { key: readFileSync(join(folder, 'own.key'), 'utf8'), cert: readFileSync(join(folder, 'own.pem'), 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
