import { z } from 'zod';
import { stepKinds } from '../../channels/channel.ts';
import type { ChannelKind } from '../../channels/channel-kind.ts';
import { durationBetween } from '../../channels/duration-shape.ts';
import { readSecret, secretShape } from '../../channels/secret.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { httpTemplateChannel } from './http-template-channel.ts';
import { pagerDutyChannel } from './pager-duty-channel.ts';

const steps = z.array(z.enum(stepKinds)).min(1);
const common = {
  gateway_url: z.string().optional(),
  steps: steps.optional(),
  request_timeout: durationBetween('100ms', '2m', '10s').optional(),
  allow_addresses: z.array(z.string()).max(100, 'must have at most 100 items').optional(),
};

const pagerDuty = z.strictObject({
  routing_key: secretShape,
  on_settled: z.enum(['resolve', 'acknowledge']).optional(),
  url: z.string().optional(),
  ...common,
});

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
  ...common,
});

/** `kind: pager_duty` of a channel file (docs/on-call.md). */
export const pagerDutyKind: ChannelKind<z.infer<typeof pagerDuty>> = {
  shape: pagerDuty,
  make: ({ routing_key: routingKey, on_settled: onSettled, url, ...others }) =>
    pagerDutyChannel({ routingKey: readSecret(routingKey), onSettled, url, ...settings(others) }),
};

/** `kind: http_template` of a channel file (docs/on-call.md). */
export const httpTemplateKind: ChannelKind<z.infer<typeof httpTemplate>> = {
  shape: httpTemplate,
  make: ({ notify, settled, secrets = {}, ...others }) => {
    const read = Object.entries(secrets).map(([name, place]) => [name, readSecret(place)] as const);
    return httpTemplateChannel({ notify, settled, secrets: Object.fromEntries(read), ...settings(others) });
  },
};

type Common = z.infer<z.ZodObject<typeof common>>;

function settings({
  gateway_url: gatewayUrl,
  steps,
  request_timeout: requestTimeoutMs,
  allow_addresses: allowed,
}: Common) {
  return { gatewayUrl, steps, requestTimeoutMs, allowAddresses: allowed };
}
