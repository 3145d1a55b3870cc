import { createHash } from 'node:crypto';
import { checkOptions } from '../../agents/check-options.ts';
import { type Channel, type ChannelRequest, type ChannelStep, testText, stepKinds } from '../../channels/channel.ts';
import { gatewayOrigin, inboxUrl } from '../../channels/answer-link.ts';
import { type HttpSettings, HttpSender } from '../../channels/outgoing/exchange.ts';
import { inFullOrShort } from '../../channels/outgoing/not-taken.ts';
import type { ChannelKind } from '../../channels/channel-kind.ts';
import { policyInvalid, durationBetween, readSecret, secretShape } from '../../channels/channel-kind.ts';
import { defaultAssessment } from '../../core/assess/assessment.ts';
import { isObject } from '../../core/base/json.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { readJson } from '../../text/read-json.ts';
import type { Json, JsonObject } from '../../core/base/tool-call.ts';
import {
  checkTemplate,
  fillTemplate,
  fillText,
  memberOf,
  knownInBody,
  knownOutside,
  type TemplateFacts,
  templateValues,
} from './template.ts';
import { z } from 'zod';

/** A template of an HTTP request to a service, with placeholders such as `{{request.toolName}}`. */
export interface HttpTemplate {
  /** Default: `POST`. */
  method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The URL. It may have placeholders after the host, whose values are percent-encoded. */
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** A body to send as JSON. A template has at most one of `body`, `form` and `text`. */
  body?: Json;
  /** Fields to send as `application/x-www-form-urlencoded`. */
  form?: Readonly<Record<string, string>>;
  /** A body to send as `text/plain`. */
  text?: string;
  /** The place of an id in the service's answer, such as `data.id`. Later requests use it as `{{sent.id}}`. */
  keep?: string;
}

/** The template of the HTTP request that reports a settlement to the service. */
export interface SettledTemplate extends HttpTemplate {
  /**
   * True to report every settlement, even if `notify` failed, because its request may have arrived. The service must
   * then ignore unknown requests, and `{{sent.id}}` is not available. Default: false, to report only after a success.
   */
  always?: boolean;
}

/** Options of `httpTemplateChannel`. */
export interface HttpTemplateOptions extends HttpSettings {
  notify: HttpTemplate;
  /** Default: settlements are not reported. */
  settled?: SettledTemplate;
  /** The values of the placeholders `{{secrets.NAME}}`, by name. */
  secrets?: Readonly<Record<string, string>>;
  /** The gateway's `public_url`, for `{{inboxUrl}}`. */
  gatewayUrl?: string;
  /** The steps about which the service is notified. Default: all. */
  steps?: readonly ChannelStep['kind'][];
}

const contents = { body: true, form: true, text: true } as const;
const notifyMembers = { method: true, url: true, headers: true, ...contents, keep: true } as const;
const settledMembers = { ...notifyMembers, always: true } as const;
const longestId = 500;

/**
 * Creates a channel that notifies a service by custom HTTP requests (docs/on-call.md). Throws `policy_invalid` for
 * templates that cannot be filled, and a `DefinitionError` for an unknown option.
 *
 * @example See {@link readChannels}, which makes it from a file.
 */
export function httpTemplateChannel(options: HttpTemplateOptions): Channel {
  const templateNames = { notify: true, settled: true, secrets: true, gatewayUrl: true, steps: true } as const;
  const http = { allowAddresses: true, requestTimeoutMs: true, lookup: true } as const;
  checkOptions('httpTemplateChannel', options, { ...templateNames, ...http });
  const { notify, settled, secrets = {}, steps } = options;
  const origin = options.gatewayUrl === undefined ? undefined : gatewayOrigin(options.gatewayUrl);
  const sender = new HttpSender(options);
  checkMessage('notify', notify, Object.keys(secrets));
  if (settled !== undefined) checkMessage('settled', settled, Object.keys(secrets));

  /** Fills the template, sends the request, and returns the body of the response. `link`: the `{{inboxUrl}}`. */
  async function send(
    template: HttpTemplate,
    facts: Omit<TemplateFacts, 'secrets' | 'inboxUrl' | 'isShort'>,
    signal: AbortSignal,
    link = origin === undefined ? undefined : inboxUrl(origin, facts.request),
  ): Promise<string> {
    const { method = 'POST', headers = {} } = template;
    return inFullOrShort(async (isShort) => {
      const values = templateValues({ ...facts, isShort, inboxUrl: link, secrets });
      const content = contentOf(template, values);
      const filled = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), fillText(value, values)]);
      return sender.send({
        method,
        url: new URL(fillText(template.url, values, asUrlPart)),
        headers: { ...(content !== undefined && { 'content-type': content.type }), ...Object.fromEntries(filled) },
        body: content?.body,
        signal,
      });
    });
  }

  return {
    ...(steps !== undefined && { steps }),
    reach: (signal) => sender.reach(new URL(withPlainHost(notify.url)), signal),
    test: async ({ key, signal }) => {
      // The test request belongs to no run, so link to the inbox itself.
      const link = origin === undefined ? undefined : `${origin}/inbox/`;
      const request = testRequest(key);
      const outcome = { outcome: 'cancelled', runs: false, reason: testText } as const;
      const settlement = { ...outcome, settledAt: request.requestedAt };
      const answer = await send(notify, { request, step: { kind: 'asked' }, key, attempt: 1 }, signal, link);
      const sent = { id: idOf(answer, notify.keep) };
      if (settled !== undefined) await send(settled, { request, settlement, key, attempt: 1, sent }, signal, link);
      const where = new URL(withPlainHost(notify.url)).origin;
      return `a message to ${where}${settled === undefined ? '' : ', and one about its settlement'}`;
    },
    notify: async (request, { step, key, attempt, sent, signal }) => {
      // The request may have been settled before this attempt.
      if (request.settled !== undefined || steps?.includes(step.kind) === false) return sent;
      const answer = await send(notify, { request, step, key, attempt, sent }, signal);
      return { id: idOf(answer, notify.keep) ?? idIn(sent) };
    },
    ...(settled !== undefined && {
      settled: async (request, settlement, { key, attempt, sent, signal }) => {
        if (sent === undefined && settled.always !== true) return;
        await send(settled, { request, settlement, key, attempt, sent }, signal);
      },
    }),
  };
}

/** Validates a template. Throws `policy_invalid` for an invalid member, URL, header or placeholder. */
function checkMessage(name: 'notify' | 'settled', template: SettledTemplate, secrets: readonly string[]): void {
  checkOptions(
    `httpTemplateChannel: ${name}`,
    template,
    Object.keys(name === 'settled' ? settledMembers : notifyMembers),
  );
  const { url, headers = {}, body, form, text, always } = template;
  if ([body, form, text].filter((each) => each !== undefined).length > 1) {
    throw policyInvalid(`'${name}' must have at most one of 'body', 'form' and 'text'.`);
  }
  if (always === true && /\{\{\s*sent\.id\b/.test(JSON.stringify(template))) {
    throw policyInvalid(`'settled' with 'always' must not have {{sent.id}}: there may be no such id.`);
  }
  checkServiceUrl(withPlainHost(url));
  if (!/^https?:\/\/[^/{}?#]+(?:[/?]|$)/i.test(url)) {
    throw policyInvalid(
      `The host of the 'url' of '${name}' must be a part of the file: no placeholder may stand in it.`,
    );
  }
  const outside = knownOutside(secrets);
  checkTemplate(url, outside, `The 'url' of '${name}'`);
  checkTemplate({ ...headers }, outside, `A header of '${name}'`);
  checkHeaderNames(name, Object.keys(headers));
  for (const [member, content] of Object.entries({ body, form: form && { ...form }, text })) {
    if (content === undefined) continue;
    checkTemplate(content, knownInBody(name, secrets), `The '${member}' of '${name}'`, { takesFilters: true });
  }
}

function checkHeaderNames(place: string, names: readonly string[]): void {
  for (const name of names) {
    if (/^[\w-]+$/.test(name) && !/^(?:host|content-length|transfer-encoding|connection)$/i.test(name)) continue;
    throw policyInvalid(`'${place}' must not set the header ${JSON.stringify(name.slice(0, 100))}.`);
  }
}

/** Fills the template of the body, and returns it with its content type. Undefined for a template without a body. */
function contentOf({ body, form, text }: HttpTemplate, values: JsonObject): { type: string; body: string } | undefined {
  if (body !== undefined) return { type: 'application/json', body: JSON.stringify(fillTemplate(body, values)) };
  if (text !== undefined) return { type: 'text/plain; charset=utf-8', body: fillText(text, values) };
  if (form === undefined) return undefined;
  const fields = Object.entries(form).map(([field, value]) => [field, fillText(value, values).toWellFormed()]);
  return {
    type: 'application/x-www-form-urlencoded',
    body: new URLSearchParams(Object.fromEntries(fields)).toString(),
  };
}

/** Throws `policy_invalid` for an invalid URL. The message does not repeat it, because it may contain a secret. */
function checkServiceUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return;
  const message = `'url' must be an address such as https://events.example.com/v1/alerts, without a user and a password.`;
  throw policyInvalid(message);
}

/** Replaces the placeholders of a URL by `x`, so that the URL can be parsed. */
function withPlainHost(url: string): string {
  return url.replaceAll(/\{\{[^{}]*\}\}/g, 'x');
}

/** Builds a request for a test message. It belongs to no run, and its sentence says so. */
function testRequest(key: string): ChannelRequest {
  return {
    requestId: createHash('sha256').update(key).digest('hex').slice(0, 32),
    workflowId: 'countersign-test',
    toolName: 'test',
    sentence: testText,
    arguments: {},
    riskLevel: 'read_only',
    assessment: defaultAssessment('read_only'),
    agentName: 'countersign',
    callerUserId: null,
    contextSummary: '',
    rule: null,
    reason: testText,
    requestedAt: new Date().toISOString(),
    deadline: null,
    digest: createHash('sha256').update(testText).digest('hex'),
    lineage: [],
    metadata: {},
    reviewers: [],
    shown: 'all',
  };
}

/** Encodes a value for a path or query. Throws if it is empty or has only dots, which would change the path. */
function asUrlPart(value: string): string {
  if (value !== '' && !/^\.+$/.test(value)) return encodeURIComponent(value.toWellFormed());
  throw policyInvalid('A placeholder in the URL has no value that can be part of a path.');
}

/** Returns the id at the place `keep` in the service's answer; null without `keep`. Throws if there is no id. */
function idOf(answer: string, keep: string | undefined): string | null {
  if (keep === undefined) return null;
  const read = readJson(answer, { root: 'answer' });
  const id = 'problem' in read ? undefined : memberOf(read.value, keep);
  const text = typeof id === 'number' ? String(id) : id;
  if (typeof text === 'string' && text !== '' && text.length <= longestId) return text;
  throw new ProblemError({ code: 'invalid_message', message: `The service's answer has no id at '${keep}'.` });
}

function idIn(sent: Json | undefined): string | null {
  const id = isObject(sent) ? sent['id'] : undefined;
  return typeof id === 'string' ? id : null;
}

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
  make: ({ notify, settled, secrets = {}, steps, ...others }) =>
    httpTemplateChannel({
      notify,
      settled,
      secrets: Object.fromEntries(Object.entries(secrets).map(([name, place]) => [name, readSecret(place)])),
      gatewayUrl: others.gateway_url,
      steps,
      requestTimeoutMs: others.request_timeout,
      allowAddresses: others.allow_addresses,
    }),
};
