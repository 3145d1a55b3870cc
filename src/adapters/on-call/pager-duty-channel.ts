import { createHash } from 'node:crypto';
import { checkOptions } from '../../agents/check-options.ts';
import { type Channel, type ChannelRequest, type ChannelStep, testText } from '../../channels/channel.ts';
import { gatewayOrigin } from '../../channels/gateway-origin.ts';
import { inboxUrl } from '../../channels/inbox-url.ts';
import { httpReacher, type HttpSettings, httpSender } from '../../channels/send-http.ts';
import { policyInvalid } from '../../channels/policy-invalid.ts';
import type { Json, JsonObject, Severity } from '../../core/base/tool-call.ts';
import { instantText } from '../../text/instant-text.ts';
import { visibleText } from '../../text/visible-text.ts';
import { cardOf } from '../../card/card-of.ts';
import { inFullOrShort } from '../../channels/outgoing/not-taken.ts';
import { shortSentence } from '../../channels/short-request.ts';
import { sentenceOf } from './sentence-of.ts';
import { serviceUrl } from './service-url.ts';

/** Options of `pagerDutyChannel`. */
export interface PagerDutyOptions extends HttpSettings {
  /** The key of an integration whose type is Events API v2. */
  routingKey: string;
  /** The gateway's `public_url`: the incident leads to the request in its inbox. Default: there is no link. */
  gatewayUrl?: string;
  /** The event that the channel sends once the request is settled. Default `resolve`. */
  onSettled?: 'resolve' | 'acknowledge';
  /** Steps that trigger an incident. Default: all. */
  steps?: readonly ChannelStep['kind'][];
  /** Default `https://events.pagerduty.com`; `https://events.eu.pagerduty.com` in the EU. */
  url?: string;
}

/** PagerDuty knows four severities. */
const severityNames: Record<Severity, string> = {
  safe: 'info',
  low: 'info',
  medium: 'warning',
  high: 'error',
  critical: 'critical',
};
/** PagerDuty refuses longer ones. */
const longestSummary = 1_024;

/**
 * Opens one incident for each request (docs/on-call.md), and resolves it once the request is settled. Repeats have the
 * same `dedup_key`, so reminders and attempts after a crash add to the incident and open no other. Throws
 * `policy_invalid` for options that cannot work, and a `DefinitionError` for an unknown option.
 *
 * @example See {@link readChannels}, which makes it from a file.
 */
export function pagerDutyChannel(options: PagerDutyOptions): Channel {
  checkOptions('pagerDutyChannel', options, {
    routingKey: true,
    gatewayUrl: true,
    onSettled: true,
    steps: true,
    url: true,
    allowAddresses: true,
    requestTimeoutMs: true,
    lookup: true,
  });
  const { routingKey, onSettled = 'resolve', steps, url = 'https://events.pagerduty.com' } = options;
  if (!/^[\x21-\x7E]{1,255}$/.test(routingKey)) {
    throw policyInvalid('The routing key of PagerDuty is empty or not valid.');
  }
  const origin = options.gatewayUrl === undefined ? undefined : gatewayOrigin(options.gatewayUrl);
  const enqueue = new URL('/v2/enqueue', serviceUrl(url));
  const sendHttp = httpSender(options);
  const reach = httpReacher(options);

  async function send(event: JsonObject, signal: AbortSignal): Promise<void> {
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const body = JSON.stringify({ routing_key: routingKey, ...event });
    await sendHttp({ method: 'POST', url: enqueue, headers, body, signal });
  }

  return {
    ...(steps !== undefined && { steps }),
    reach: (signal) => reach(enqueue, signal),
    test: async ({ key, signal }) => {
      const incident = `countersign-test-${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
      const payload = { summary: testText, source: 'countersign', severity: 'info', class: 'test' };
      await send({ event_action: 'trigger', dedup_key: incident, payload, client: 'Countersign' }, signal);
      await send({ event_action: 'resolve', dedup_key: incident }, signal);
      return `an incident to ${enqueue.origin}, and resolved it`;
    },
    notify: async (request, { step, sent, signal }) => {
      // An attempt may be late.
      if (request.settled !== undefined || steps?.includes(step.kind) === false) return sent;
      const link = origin === undefined ? undefined : inboxUrl(origin, request);
      const dedupKey = incidentOf(request);
      await inFullOrShort((isShort) => {
        const about = isShort ? shortIncident(request, link) : incident(request, step, link);
        return send({ event_action: 'trigger', dedup_key: dedupKey, ...about }, signal);
      });
      return { incident: incidentOf(request) };
    },
    // Without regard to what `notify` returned: an attempt may have opened the incident and failed afterwards.
    settled: async (request, _settlement, { signal }) => {
      await send({ event_action: onSettled, dedup_key: incidentOf(request) }, signal);
    },
  };
}

/** Stable for all steps of a request. */
function incidentOf({ requestId }: ChannelRequest): string {
  return `countersign-${requestId}`;
}

/** The least that PagerDuty takes. */
function shortIncident(request: ChannelRequest, link: string | undefined): JsonObject {
  const { workflowId, assessment } = request;
  const summary = shortSentence(request);
  const payload = { summary, source: visibleText(workflowId), severity: severityNames[assessment.severity] };
  return { payload, ...(link !== undefined && { client_url: link }) };
}

function incident(request: ChannelRequest, step: ChannelStep, link: string | undefined): JsonObject {
  const { assessment, riskLevel, rule, requestedAt, deadline } = request;
  const [agent, tool, run] = [request.agentName, request.toolName, request.workflowId].map((each) => visibleText(each));
  const details: Record<string, Json> = {
    agent: agent!,
    tool: tool!,
    run: run!,
    request: visibleText(request.requestId),
    risk: riskLevel,
    severity: assessment.severity,
    rule: rule === null ? null : visibleText(rule),
    reason: visibleText(request.reason),
    step: step.kind,
    waits_until: deadline === null ? null : instantText(deadline),
    reviewers: request.reviewers.map((each) => visibleText(each)),
  };
  return {
    payload: {
      summary: sentenceOf(cardOf(request), longestSummary),
      source: run!,
      severity: severityNames[assessment.severity],
      timestamp: requestedAt,
      component: tool!,
      group: agent!,
      class: 'approval',
      custom_details: details,
    },
    client: 'Countersign',
    ...(link !== undefined && { client_url: link, links: [{ href: link, text: 'Read it and answer' }] }),
  };
}
