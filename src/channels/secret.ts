import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { policyInvalid } from './policy-invalid.ts';

/** What a member that holds a secret must be. */
export const secretPlace =
  'must say where the secret is, { env: NAME } or { file: PATH }: it never stands in the file itself';

/** A secret in a channel file: the place that holds it, never the secret itself. */
export const secretShape = z.union(
  [z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })],
  secretPlace,
);

/** Reads a secret, without a line break at its end. Throws `policy_invalid` if it is missing or empty. */
export function readSecret(place: z.infer<typeof secretShape>): string {
  const where = 'env' in place ? `the environment variable ${place.env}` : `the file ${place.file}`;
  const secret = ('env' in place ? process.env[place.env] : readText(place.file))?.trimEnd();
  if (secret !== undefined && secret !== '') return secret;
  throw policyInvalid(`The secret in ${where} is missing or empty.`);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
