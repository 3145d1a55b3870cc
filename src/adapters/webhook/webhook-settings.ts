import type { LookupFunction } from 'node:net';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Webhook } from 'standardwebhooks';
import { type LegacySignature, signingKeys } from './signature.ts';
import type { ChannelStep } from '../../channels/channel.ts';
import type { ApprovalDetails } from '../../contract.ts';
import { checkOptions } from '../../agents/check-options.ts';
import type { FilteredAgents } from '../../channels/outgoing/address-filter.ts';
import { addressFilter, checkAddress, filteredAgents, hostOf } from '../../channels/outgoing/address-filter.ts';
import { policyInvalid, readPem } from '../../channels/channel-kind.ts';
import { isLoopbackAddress } from '../../text/loopback.ts';

/** Options of `webhookChannel`. docs/webhook.md describes them as members of a channel file. */
export interface WebhookOptions {
  /** The URL to which requests are posted. */
  url: string;
  /** One secret or several, the newest first. Messages are signed with all of them; answers with any of them. */
  secret: string | readonly string[];
  /** The name of the channel at the gateway. Default: `webhook`. */
  name?: string;
  /** True to poll for the answer. Default: true, unless there is a `callbackUrl` and no `pollUrl`. */
  poll?: boolean;
  /**
   * The URL to poll for the answer, with `{requestId}` in place of the id. If it lacks `{requestId}`, a header has the
   * id, and the answer must name the id. Default: `url`, followed by `/` and the id.
   */
  pollUrl?: string;
  /** The poll interval in milliseconds: at least 500. Default 2,000. */
  pollIntervalMs?: number;
  /**
   * The gateway's address, such as `https://gate.example.com`. Then each request has a URL to which to post its answer.
   */
  callbackUrl?: string;
  /** True if an answer to a poll must be signed, as each posted answer is. Default: true for http to other machines. */
  signedAnswers?: boolean;
  /** A second signature, for receivers with another convention. */
  legacySignature?: LegacySignature;
  /** Further headers of all requests. */
  headers?: Readonly<Record<string, string>>;
  /** How long one HTTP request may take, in milliseconds. Default 10,000. */
  requestTimeoutMs?: number;
  /** Private addresses to which the channel may connect: `10.1.2.3` or `10.20.0.0/16`. Default: none. */
  allowAddresses?: readonly string[];
  /** The URL of an HTTP proxy. The proxy resolves host names, so it must itself refuse those with private addresses. */
  proxy?: string;
  /** Paths of PEM files: the client's certificate and its key, and trusted authorities in place of the system's. */
  tls?: { cert?: string; key?: string; ca?: string };
  /** The function that resolves host names. Default: the system's resolver. */
  lookup?: LookupFunction;
}

/** Why a request is posted. */
export interface WebhookDelivery {
  /** What has happened. For `settled`, the member `settled` of the request contains the outcome. */
  event: ChannelStep['kind'] | 'settled';
  /** For `escalated`: the additional reviewers. */
  to?: readonly string[];
  /** The URL to which an answer may be posted. Absent without `callbackUrl` in the options, and for `settled`. */
  callbackUrl?: string;
}

/** The body of each POST request: the request as reviewers see it, its delivery, and what a legacy signature needs. */
export type WebhookBody = ApprovalDetails & { request_id?: string; tool_name?: string; delivery: WebhookDelivery };

export interface WebhookSettings {
  url: URL;
  name: string;
  keys: Webhook[];
  agents: FilteredAgents;
  headers: Readonly<Record<string, string>>;
  requestTimeoutMs: number;
  legacy?: Required<LegacySignature>;
  /** How to poll; absent if the channel does not poll. `isShared`: all requests have the same URL. */
  poll?: { urlFor: (requestId: string) => URL; intervalMs: number; isSigned: boolean; isShared: boolean };
  callbackUrl?: string;
}

const leastIntervalMs = 500;
const placeholder = '{requestId}';
/** Headers that the channel sets itself, and headers that change how a request is parsed. */
const reserved = /^(?:webhook-.*|countersign-.*|content-.*|host|connection|transfer-encoding|expect|upgrade)$/i;

/** Validates the options. Throws `policy_invalid`, also for a forbidden address. */
export async function webhookSettings(options: WebhookOptions): Promise<WebhookSettings> {
  const receiver = { url: true, secret: true, name: true, proxy: true, tls: true, lookup: true } as const;
  const answers = { poll: true, pollUrl: true, pollIntervalMs: true, callbackUrl: true, signedAnswers: true } as const;
  const sending = { legacySignature: true, headers: true, requestTimeoutMs: true, allowAddresses: true } as const;
  checkOptions('webhookChannel', options, { ...receiver, ...answers, ...sending });
  const { pollUrl, callbackUrl, pollIntervalMs = 2_000, requestTimeoutMs = 10_000, proxy, lookup } = options;
  const secrets = [options.secret ?? []].flat();
  const keys = signingKeys(secrets);
  const url = webUrl(options.url, 'url');
  const filter = addressFilter(options.allowAddresses ?? []);
  if (proxy !== undefined && webUrl(proxy, 'proxy').pathname !== '/') throw policyInvalid(`'proxy' must have no path.`);
  const polls = options.poll ?? (pollUrl !== undefined || callbackUrl === undefined);
  if (!polls && pollUrl !== undefined) throw policyInvalid(`'poll_url' needs 'poll: true'.`);
  if (pollIntervalMs < leastIntervalMs) throw policyInvalid(`'poll_interval' must be at least 500ms.`);
  // Validate the URL with an id in place of the placeholder.
  const sampleUrl = pollUrl === undefined ? url : webUrl(pollUrl.replaceAll(placeholder, 'id'), 'poll_url');
  await checkAddress(url, { filter, lookup, proxy });
  if (polls && sampleUrl.hostname !== url.hostname) await checkAddress(sampleUrl, { filter, lookup, proxy });
  const { legacySignature: legacy, headers = {}, tls = {} } = options;
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value);
  checkOptions('webhookChannel: tls', tls, { cert: true, key: true, ca: true });
  if (legacy !== undefined) {
    checkOptions('webhookChannel: legacySignature', legacy, { header: true, over: true, secret: true });
    checkHeader(legacy.header, '');
  }
  return {
    url,
    name: options.name ?? 'webhook',
    keys,
    agents: filteredAgents({ filter, lookup, proxy, tls: readTls(tls) }),
    headers,
    requestTimeoutMs,
    legacy: legacy && { ...legacy, secret: legacy.secret ?? secrets[0]! },
    poll: polls ? pollSettings(options, url, sampleUrl, pollIntervalMs) : undefined,
    callbackUrl: callbackUrl === undefined ? undefined : webUrl(callbackUrl, 'callback_url').href.replace(/\/+$/, ''),
  };
}

/** How to poll for answers. `sampleUrl`: a URL that is polled, with `id` in place of a request's id. */
function pollSettings(
  { pollUrl, signedAnswers }: WebhookOptions,
  url: URL,
  sampleUrl: URL,
  intervalMs: number,
): WebhookSettings['poll'] {
  return {
    urlFor: (requestId) => (pollUrl === undefined ? pathBelow(url, requestId) : filledIn(pollUrl, requestId)),
    intervalMs,
    // An attacker on the network could forge an answer over plain http.
    isSigned: signedAnswers ?? (sampleUrl.protocol === 'http:' && !isLoopbackAddress(hostOf(sampleUrl))),
    isShared: pollUrl !== undefined && !pollUrl.includes(placeholder),
  };
}

function pathBelow(url: URL, requestId: string): URL {
  const under = new URL(url);
  under.pathname = `${url.pathname.replace(/\/+$/, '')}/${encodeURIComponent(requestId)}`;
  return under;
}

function filledIn(template: string, requestId: string): URL {
  return new URL(template.replaceAll(placeholder, encodeURIComponent(requestId)));
}

/** Parses an http or https URL. Only that of a proxy may have a user and a password. Throws `policy_invalid`. */
function webUrl(text: string, member: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const hasPassword = member !== 'proxy' && (url?.username !== '' || url.password !== '');
  if (url === undefined || !/^https?:$/.test(url.protocol) || hasPassword || url.hash !== '') {
    throw policyInvalid(`'${member}' must be an http or https URL without a name, a password or a fragment in it.`);
  }
  return url;
}

/** Throws `policy_invalid` for an invalid header, and for one that the operator must not set. */
function checkHeader(name: string, value: string): void {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    throw policyInvalid(
      `The header '${name.slice(0, 80)}' is not a valid header name, or its value has invalid characters.`,
    );
  }
  if (reserved.test(name))
    throw policyInvalid(`The header '${name}' cannot be set: HTTP or the webhook itself sets it.`);
}

function readTls({ cert, key, ca }: NonNullable<WebhookOptions['tls']>): NonNullable<WebhookOptions['tls']> {
  if ((cert === undefined) !== (key === undefined)) throw policyInvalid(`'cert' and 'key' must be set together.`);
  return {
    ...(cert !== undefined && { cert: readPem(cert, 'cert') }),
    ...(key !== undefined && { key: readPem(key, 'key') }),
    ...(ca !== undefined && { ca: readPem(ca, 'ca') }),
  };
}
