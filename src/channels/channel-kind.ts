import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ProblemError } from '../core/base/problem.ts';
import type { Channel } from './channel.ts';

/** A kind of channel that a channel file (docs/channels.md) can name. */
export interface ChannelKind<Members = unknown> {
  /** The members of its entry in the file, without `kind`: snake_case, durations such as `30s`. */
  shape: z.ZodType<Members>;
  make(members: Members, context: ChannelContext): Channel | Promise<Channel>;
}

/** What a kind may ask for while it makes a channel of a file. */
export interface ChannelContext {
  /** The name of the entry. */
  name: string;
  /** Another entry of the file, by name. Throws `policy_invalid` if there is none. */
  channel(name: string): Promise<Channel>;
}

/** A secret in a channel file: where it is, never the secret itself. */
export const secretShape = z.union(
  [z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })],
  'must say where the secret is, { env: NAME } or { file: PATH }: it never stands in the file itself',
);

export type SecretPlace = z.infer<typeof secretShape>;

/** Reads a secret, without a line break at its end. Throws `policy_invalid` if it is missing or empty. */
export function readSecret(place: SecretPlace): string {
  const where = 'env' in place ? `the environment variable ${place.env}` : `the file ${place.file}`;
  const secret = ('env' in place ? process.env[place.env] : readText(place.file))?.trimEnd();
  if (secret !== undefined && secret !== '') return secret;
  throw new ProblemError({ code: 'policy_invalid', message: `The secret in ${where} is missing or empty.` });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
