import { z } from 'zod';
import { stepKinds } from '../../channels/channel.ts';
import { type ChannelKind, durationBetween, readSecret, secretShape } from '../../channels/channel-kind.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { httpTemplateChannel } from './http-template-channel.ts';

const template = z.strictObject({
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']).optional(),
  url: z.string(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.custom<Json>((value) => value !== undefined).optional(),
  form: z.record(z.string(), z.string()).optional(),
  text: z.string().optional(),
  keep: z.string().min(1).optional(),
});

const httpTemplate = z.strictObject({
  notify: template,
  settled: template.extend({ always: z.boolean().optional() }).optional(),
  secrets: z.record(z.string().regex(/^\w+$/, 'must have letters, digits and _ only'), secretShape).optional(),
  gateway_url: z.string().optional(),
  steps: z.array(z.enum(stepKinds)).min(1).optional(),
  request_timeout: durationBetween('100ms', '2m', '10s').optional(),
  allow_addresses: z.array(z.string()).max(100, 'must have at most 100 items').optional(),
});

/** `kind: http_template` of a channel file (docs/on-call.md). */
export const httpTemplateKind: ChannelKind<z.infer<typeof httpTemplate>> = {
  shape: httpTemplate,
  make: ({
    secrets = {},
    gateway_url: gatewayUrl,
    request_timeout: requestTimeoutMs,
    allow_addresses: allowAddresses,
    ...others
  }) => {
    const read = Object.entries(secrets).map(([name, place]) => [name, readSecret(place)] as const);
    return httpTemplateChannel({
      ...others,
      secrets: Object.fromEntries(read),
      gatewayUrl,
      requestTimeoutMs,
      allowAddresses,
    });
  },
};
