import type { LookupFunction } from 'node:net';
import type { LegacySignature } from './legacy-signature.ts';
import type { ChannelStep } from '../../channels/channel.ts';
import type { ApprovalDetails } from '../../contract.ts';

/** Options of `webhookChannel`. docs/webhook.md has the same as members of a channel file. */
export interface WebhookOptions {
  /** Where requests are posted. */
  url: string;
  /** One secret or several, the newest first: what is sent is signed with all, what comes may be signed with any. */
  secret: string | readonly string[];
  /** The name of the channel at the gateway. Default `webhook`. */
  name?: string;
  /** True: ask for the answer. Default: true unless there is a `callbackUrl` and no `pollUrl`. */
  poll?: boolean;
  /**
   * Where the answer is asked for, with `{requestId}` for the id. Without that, the id is in a header alone, and the answer
   * must name it. Default: `url`, with `/` and the id after its path.
   */
  pollUrl?: string;
  /** How often, in milliseconds: at least 500. Default 2,000. */
  pollIntervalMs?: number;
  /**
   * The address under which the receiver reaches the gateway, such as `https://approvals.example.com`. Requests then name
   * the URL to which the answer may be posted.
   */
  callbackUrl?: string;
  /** True: an answer to a poll must be signed, as posted answers must. Default: true for http, except to this machine. */
  signedAnswers?: boolean;
  /** A second signature, for receivers that know another convention. */
  legacySignature?: LegacySignature;
  /** More headers for all requests. */
  headers?: Readonly<Record<string, string>>;
  /** How long one HTTP request may take, in milliseconds. Default 10,000. */
  requestTimeoutMs?: number;
  /** Addresses that are not public and may be reached all the same: `10.1.2.3` or `10.20.0.0/16`. Default: none. */
  allowAddresses?: readonly string[];
  /** The URL of an HTTP proxy. It looks names up, so it has to refuse private addresses behind names. */
  proxy?: string;
  /** Files in PEM: the client's certificate and its key, and the authorities that are believed instead of the system's. */
  tls?: { cert?: string; key?: string; ca?: string };
  /** Looks names up, in the place of the system's resolver. */
  lookup?: LookupFunction;
}

/** Why a request is posted. */
export interface WebhookDelivery {
  /** With `settled`, the member `settled` of the request says how. */
  event: ChannelStep['kind'] | 'settled';
  /** For `escalated`: the additional reviewers. */
  to?: readonly string[];
  /** Where the answer may be posted, while the request is open. */
  callbackUrl?: string;
}

/**
 * The body of each POST: the request as reviewers may see it, and why it is posted. With a legacy signature it has the
 * members that it covers, too.
 */
export type WebhookBody = ApprovalDetails & { request_id?: string; tool_name?: string; delivery: WebhookDelivery };
