import { type LookupFunction, isIPv4 } from 'node:net';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Webhook } from 'standardwebhooks';
import { type LegacySignature, signingKeys } from './signature.ts';
import type { ChannelStep } from '../../channels/channel.ts';
import type { ApprovalDetails } from '../../contract.ts';
import { checkOptions } from '../../agents/check-options.ts';
import {
  addressFilter,
  checkAddress,
  type FilteredAgents,
  filteredAgents,
  hostOf,
} from '../../channels/outgoing/address-filter.ts';
import { policyInvalid, readPem } from '../../channels/channel-kind.ts';

/** Options of `webhookChannel`. docs/webhook.md has the same as members of a channel file. */
export interface WebhookOptions {
  /** The URL to which requests are posted. */
  url: string;
  /** One secret or several, the newest first: each message is signed with all; an answer may be signed with any. */
  secret: string | readonly string[];
  /** The name of the channel at the gateway. Default `webhook`. */
  name?: string;
  /** True: poll for the answer. Default: true unless there is a `callbackUrl` and no `pollUrl`. */
  poll?: boolean;
  /**
   * The URL to poll for the answer, with `{requestId}` for the id; without that, only a header has the id, and the
   * answer must name it. Default: `url`, with `/` and the id after its path.
   */
  pollUrl?: string;
  /** The poll interval in milliseconds: at least 500. Default 2,000. */
  pollIntervalMs?: number;
  /**
   * The gateway's address for the receiver, such as `https://approvals.example.com`. Requests then have the URL to
   * which the answer may be posted.
   */
  callbackUrl?: string;
  /** True: an answer to a poll must be signed, like posted answers. Default: true for http, except to this machine. */
  signedAnswers?: boolean;
  /** A second signature, for receivers with another convention. */
  legacySignature?: LegacySignature;
  /** More headers for all requests. */
  headers?: Readonly<Record<string, string>>;
  /** How long one HTTP request may take, in milliseconds. Default 10,000. */
  requestTimeoutMs?: number;
  /** Private addresses that may be reached: `10.1.2.3` or `10.20.0.0/16`. Default: none. */
  allowAddresses?: readonly string[];
  /** The URL of an HTTP proxy. It does the DNS lookups, so it has to refuse names with private addresses. */
  proxy?: string;
  /** Files in PEM: the client's certificate and its key, and the trusted authorities instead of the system's. */
  tls?: { cert?: string; key?: string; ca?: string };
  /** DNS lookup to use instead of the system's. */
  lookup?: LookupFunction;
}

/** Why a request is posted. */
export interface WebhookDelivery {
  /** With `settled`, the member `settled` of the request has the outcome. */
  event: ChannelStep['kind'] | 'settled';
  /** For `escalated`: the additional reviewers. */
  to?: readonly string[];
  /** The URL to which the answer may be posted, while the request is open. */
  callbackUrl?: string;
}

/**
 * The body of each POST: the request as reviewers see it, the reason, and the members that a legacy signature covers.
 */
export type WebhookBody = ApprovalDetails & { request_id?: string; tool_name?: string; delivery: WebhookDelivery };

/** The options of a webhook, checked, with their defaults. */
export interface WebhookSettings {
  url: URL;
  name: string;
  keys: Webhook[];
  agents: FilteredAgents;
  headers: Readonly<Record<string, string>>;
  requestTimeoutMs: number;
  legacy?: Required<LegacySignature>;
  /** Absent: the channel does not poll. `isSigned`: an answer must be signed. `isShared`: all requests have one URL. */
  poll?: { urlFor: (requestId: string) => URL; intervalMs: number; isSigned: boolean; isShared: boolean };
  callbackUrl?: string;
}

const leastIntervalMs = 500;
const placeholder = '{requestId}';
/** Headers that the webhook sets itself, and headers that change how a request is parsed. */
const reserved = /^(?:webhook-.*|countersign-.*|content-.*|host|connection|transfer-encoding|expect|upgrade)$/i;

/** Throws `policy_invalid`, also for a forbidden address. */
export async function webhookSettings(options: WebhookOptions): Promise<WebhookSettings> {
  const receiver = { url: true, secret: true, name: true } as const;
  const answers = { poll: true, pollUrl: true, pollIntervalMs: true, callbackUrl: true, signedAnswers: true } as const;
  const sending = { legacySignature: true, headers: true, requestTimeoutMs: true, allowAddresses: true } as const;
  checkOptions('webhookChannel', options, {
    ...receiver,
    ...answers,
    ...sending,
    proxy: true,
    tls: true,
    lookup: true,
  });
  const { pollUrl, callbackUrl, pollIntervalMs = 2_000, requestTimeoutMs = 10_000, proxy, lookup } = options;
  const secrets = [options.secret ?? []].flat();
  const keys = signingKeys(secrets);
  const url = webUrl(options.url, 'url');
  const filter = addressFilter(options.allowAddresses ?? []);
  if (proxy !== undefined && webUrl(proxy, 'proxy').pathname !== '/') throw policyInvalid(`'proxy' must have no path.`);
  const polls = options.poll ?? (pollUrl !== undefined || callbackUrl === undefined);
  if (!polls && pollUrl !== undefined) throw policyInvalid(`'poll_url' needs 'poll: true'.`);
  if (pollIntervalMs < leastIntervalMs) throw policyInvalid(`'poll_interval' must be at least 500ms.`);
  const pollBase = pollUrl === undefined ? url : webUrl(pollUrl.replaceAll(placeholder, 'id'), 'poll_url');
  await checkAddress(url, { filter, lookup, proxy });
  if (polls && pollBase.hostname !== url.hostname) await checkAddress(pollBase, { filter, lookup, proxy });
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
    poll: polls
      ? {
          urlFor: (requestId) => (pollUrl === undefined ? pathBelow(url, requestId) : filledIn(pollUrl, requestId)),
          intervalMs: pollIntervalMs,
          // An attacker on the network path could forge an answer over plain http.
          isSigned: options.signedAnswers ?? (pollBase.protocol === 'http:' && !isThisMachine(pollBase)),
          isShared: pollUrl !== undefined && !pollUrl.includes(placeholder),
        }
      : undefined,
    callbackUrl: callbackUrl === undefined ? undefined : webUrl(callbackUrl, 'callback_url').href.replace(/\/+$/, ''),
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

function webUrl(text: string, member: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const hasPassword = member !== 'proxy' && (url?.username !== '' || url.password !== '');
  if (url === undefined || !/^https?:$/.test(url.protocol) || hasPassword || url.hash !== '') {
    throw policyInvalid(`'${member}' must be an http or https URL without a name, a password or a fragment in it.`);
  }
  return url;
}

function isThisMachine(url: URL): boolean {
  const host = hostOf(url);
  return host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

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
