import { z } from 'zod';
import { type ChannelKind, readPem, readSecret, secretShape } from '../../channels/channel-kind.ts';
import { callersOptions } from '../../channels/caller-notice.ts';
import { timeZoneShape } from '../../channels/read-channel-file.ts';
import { severities } from '../../core/base/tool-call.ts';
import { emailChannel } from './email-channel.ts';
import type { MailedPerson } from './recipients.ts';

const smtp = z.strictObject({
  host: z.string().min(1),
  port: z.int().min(1).max(65_535).optional(),
  tls: z.enum(['starttls', 'implicit', 'none']).optional(),
  user: z.string().min(1).optional(),
  password: secretShape.optional(),
  ca_file: z.string().min(1).optional(),
});

const person = z.union([
  z.string(),
  z.strictObject({ address: z.string(), groups: z.array(z.string()).optional(), time_zone: timeZoneShape.optional() }),
]);

const shape = z.strictObject({
  smtp,
  from: z.string(),
  gateway_url: z.string(),
  people: z.record(z.string().min(1), person).optional(),
  to: z.array(z.string()).optional(),
  link_key: secretShape.optional(),
  namespace: z.string().min(1).optional(),
  highest_severity: z.enum(severities).optional(),
  callers: z.enum(callersOptions).optional(),
});

/** `kind: email` of a channel file (docs/email.md). */
export const emailKind: ChannelKind<z.infer<typeof shape>> = {
  shape,
  make: ({ smtp: { ca_file: caFile, password, ...server }, from, to, people = {}, namespace, ...others }) =>
    emailChannel({
      transport: {
        ...server,
        password: password && readSecret(password),
        ca: caFile && readPem(caFile, 'smtp.ca_file'),
      },
      from,
      to,
      people: Object.fromEntries(
        Object.entries(people).map(([name, each]) => [name, typeof each === 'string' ? each : mailed(each)]),
      ),
      namespace,
      gatewayUrl: others.gateway_url,
      linkKey: others.link_key && readSecret(others.link_key),
      highestSeverity: others.highest_severity,
      callers: others.callers,
    }),
};

function mailed({ time_zone: zone, ...others }: Exclude<z.infer<typeof person>, string>): MailedPerson {
  return { ...others, ...(zone !== undefined && { timeZone: zone }) };
}
