import type { LookupFunction } from 'node:net';
import type { LegacySignature } from './legacy-signature.ts';
import type { ChannelStep } from '../../channels/channel.ts';
import type { ApprovalDetails } from '../../contract.ts';

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
   * The URL to poll for the answer, with `{requestId}` for the id. Without that, only a header has the id, and the
   * answer must name it. Default: `url`, with `/` and the id after its path.
   */
  pollUrl?: string;
  /** The poll interval in milliseconds: at least 500. Default 2,000. */
  pollIntervalMs?: number;
  /**
   * The address under which the receiver reaches the gateway, such as `https://approvals.example.com`. Requests then
   * include the URL to which the answer may be posted.
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
 * The body of each POST: the request as reviewers may see it, and the reason for the post. With a legacy signature it
 * also has the members that the signature covers.
 */
export type WebhookBody = ApprovalDetails & { request_id?: string; tool_name?: string; delivery: WebhookDelivery };
