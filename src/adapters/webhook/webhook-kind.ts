import { z } from 'zod';
import {
  type ChannelKind,
  durationBetween,
  readSecret,
  secretPlace,
  secretShape,
} from '../../channels/channel-kind.ts';
import { webhookChannel } from './webhook-channel.ts';

const text = z.string().min(1, 'must not be empty').max(2_000, 'must have at most 2000 characters');
/** A URL may be a secret, too. */
const url = z.union([text, secretShape], 'must be a URL, { env: NAME } or { file: PATH }');
const secretName = /auth|token|secret|key|cookie|password/i;

const shape = z
  .strictObject({
    url,
    secret: z.union(
      [secretShape, z.array(secretShape).min(1, 'must name a secret').max(5, 'must have at most 5 items')],
      secretPlace,
    ),
    poll: z.boolean().optional(),
    poll_url: url.optional(),
    poll_interval: durationBetween('500ms', '1h', '2s').optional(),
    callback_url: text.optional(),
    signed_answers: z.boolean().optional(),
    legacy_signature: z
      .strictObject({ header: text, over: z.enum(['body', 'id_and_tool']), secret: secretShape.optional() })
      .optional(),
    headers: z
      .record(z.string(), z.union([z.string(), secretShape], 'must be a text, { env: NAME } or { file: PATH }'))
      .optional(),
    request_timeout: durationBetween('100ms', '2m', '10s').optional(),
    allow_addresses: z.array(text).max(100, 'must have at most 100 items').optional(),
    proxy: url.optional(),
    tls: z.strictObject({ cert: text.optional(), key: text.optional(), ca: text.optional() }).optional(),
  })
  .superRefine(({ headers = {}, proxy }, context) => {
    for (const [name, value] of Object.entries(headers)) {
      if (typeof value !== 'string' || !secretName.test(name)) continue;
      const message = 'must be { env } or { file }: a secret is not written into the file';
      context.addIssue({ code: 'custom', message, path: ['headers', name] });
    }
    if (typeof proxy === 'string' && /\/\/[^/]*:[^/]*@/.test(proxy)) {
      const message = 'must be { env } or { file } if it has a password: a secret is not written into the file';
      context.addIssue({ code: 'custom', message, path: ['proxy'] });
    }
  });

/** `kind: webhook` in a channel file. */
export const webhookKind: ChannelKind<z.output<typeof shape>> = {
  shape,
  make: (members, { name }) =>
    webhookChannel({
      name,
      url: resolveSecret(members.url),
      secret: [members.secret].flat().map(readSecret),
      poll: members.poll,
      pollUrl: members.poll_url && resolveSecret(members.poll_url),
      pollIntervalMs: members.poll_interval,
      callbackUrl: members.callback_url,
      signedAnswers: members.signed_answers,
      legacySignature: members.legacy_signature && {
        ...members.legacy_signature,
        secret: members.legacy_signature.secret && readSecret(members.legacy_signature.secret),
      },
      headers: Object.fromEntries(
        Object.entries(members.headers ?? {}).map(([key, value]) => [key, resolveSecret(value)]),
      ),
      requestTimeoutMs: members.request_timeout,
      allowAddresses: members.allow_addresses,
      proxy: members.proxy && resolveSecret(members.proxy),
      tls: members.tls,
    }),
};

function resolveSecret(value: string | z.infer<typeof secretShape>): string {
  return typeof value === 'string' ? value : readSecret(value);
}
