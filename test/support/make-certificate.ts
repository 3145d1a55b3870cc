import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Writes `name.pem` and `name.key` into a folder: a certificate of 127.0.0.1 that `by` signs, or an authority. */
export function makeCertificate(folder: string, name: string, by?: string): void {
  const file = (written: string): string => join(folder, written);
  const extensions =
    by === undefined ? ['-addext', 'basicConstraints=critical,CA:TRUE'] : ['-addext', 'subjectAltName=IP:127.0.0.1'];
  const signer = by === undefined ? [] : ['-CA', file(`${by}.pem`), '-CAkey', file(`${by}.key`)];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', file(`${name}.key`)];
  const made = [
    'req',
    '-x509',
    ...key,
    '-subj',
    `/CN=${name}`,
    '-days',
    '2',
    ...extensions,
    ...signer,
    '-out',
    file(`${name}.pem`),
  ];
  execFileSync('openssl', made, { stdio: 'ignore' });
}
