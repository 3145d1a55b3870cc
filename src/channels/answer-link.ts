import { policyInvalid } from './channel-kind.ts';
import type { ChannelRequest } from './channel.ts';
import { createHash } from 'node:crypto';
import type { ApprovalDetails } from '../contract.ts';
import { isLoopbackHost } from '../text/loopback.ts';
import { ProblemError } from '../core/base/problem.ts';
import { instantMs } from '../core/messages/control.ts';
import type { Seals } from './sealed-text.ts';

/** Returns the origin of a gateway's `public_url`. Throws `policy_invalid` for a text that is not an origin. */
export function gatewayOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url?.protocol === 'http:' && isLoopbackHost(url.hostname);
  if (url !== undefined && (url.protocol === 'https:' || isLocal) && url.origin === text.replace(/\/$/, '')) {
    return url.origin;
  }
  const message = `The gateway's address must be an https origin without a path, such as https://approvals.example.com; http only on this machine.`;
  throw policyInvalid(message);
}

type Place = Pick<ChannelRequest, 'workflowId'> & Partial<Pick<ChannelRequest, 'requestId'>>;

/** The URL of the inbox's page for a request; without a `requestId`, of the page for its run. */
export function inboxUrl(origin: string, { workflowId, requestId }: Place): string {
  const run = asPart(workflowId);
  return `${origin}/inbox/${requestId === undefined ? `runs/${run}` : `requests/${run}/${asPart(requestId)}`}`;
}

/** Encodes a text as a part of a URL. Replaces half a surrogate pair, for which `encodeURIComponent` would throw. */
function asPart(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** The content of a link. It permits one person one answer to one request, whose call must still have this digest. */
export interface Link {
  readonly requestId: string;
  readonly workflowId: string;
  readonly digest: string;
  readonly reviewer: string;
}

const defaultMs = 7 * 24 * 3_600_000;
const longestMs = 30 * 24 * 3_600_000;

/**
 * Returns when a link expires, in milliseconds since 1970: at the `wanted` instant (default: in a week), but no later
 * than the deadline of its request. Throws a `ProblemError` if `wanted` is out of range, or the deadline has passed.
 */
export function linkExpiry({ deadline }: Pick<ApprovalDetails, 'deadline'>, wanted: string | undefined): number {
  const nowMs = Date.now();
  const wantedMs = wanted === undefined ? nowMs + defaultMs : instantMs(wanted);
  if (wantedMs === undefined || wantedMs <= nowMs || wantedMs > nowMs + longestMs) {
    const message = `'expiresAt' must be an instant in UTC within the next 30 days, such as 2030-01-31T12:00:00Z.`;
    throw new ProblemError({ code: 'arguments_invalid', message });
  }
  const deadlineMs = instantMs(deadline) ?? Infinity;
  if (deadlineMs > nowMs) return Math.min(wantedMs, deadlineMs);
  throw new ProblemError({ code: 'expired', message: 'The request has expired: it can no longer be answered.' });
}

export function sealLink(seals: Seals, link: Link, expiresMs: number): Promise<string> {
  return seals.seal('link', { ...link }, expiresMs);
}

/** The URL of a sealed link. Opening the URL only shows a page; the form on that page sends the decision. */
export function linkUrl(origin: string, link: string): string {
  return `${origin}/links/${link}`;
}

/** Reads a sealed link. Throws a `ProblemError` (`forbidden`) for an invalid or expired one. */
export async function openLink(seals: Seals | undefined, text: string): Promise<Link> {
  const content = await seals?.open('link', text);
  if (content !== undefined) return content as unknown as Link;
  const message = 'This link is not valid here, or it has expired: ask for another one, or sign in.';
  throw new ProblemError({ code: 'forbidden', message });
}

/** The `decisionId` of an answer by this link. The run refuses a second decision with it, so a link counts once. */
export function decisionIdOf(link: string): string {
  return `link-${createHash('sha256').update(link).digest('hex')}`;
}
