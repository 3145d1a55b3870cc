import { z } from 'zod';
import type { ChannelKind } from '../../channels/channel-kind.ts';
import { callersOptions } from '../../channels/caller-notice.ts';
import { readPem } from '../../channels/read-pem.ts';
import { readSecret, secretShape } from '../../channels/secret.ts';
import { webPushChannel } from './web-push-channel.ts';

const text = z.string().min(1, 'must not be empty').max(2_000, 'must have at most 2000 characters');
const shape = z.strictObject({
  subject: text,
  public_key: text,
  private_key: secretShape,
  gateway_url: text,
  allow_addresses: z.array(text).max(100, 'must have at most 100 items').optional(),
  /** A PEM file. */
  ca_file: text.optional(),
  callers: z.enum(callersOptions).optional(),
});

/** `kind: web_push` of a channel file (docs/web-push.md). */
export const webPushKind: ChannelKind<z.infer<typeof shape>> = {
  shape,
  make: ({ subject, ca_file: caFile, ...members }) =>
    webPushChannel({
      subject,
      publicKey: members.public_key,
      privateKey: readSecret(members.private_key),
      gatewayUrl: members.gateway_url,
      allowAddresses: members.allow_addresses,
      ca: caFile && readPem(caFile, 'ca_file'),
      callers: members.callers,
    }),
};
