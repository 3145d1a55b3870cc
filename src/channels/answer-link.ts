import { policyInvalid } from './channel-kind.ts';
import type { ChannelRequest } from './channel.ts';
import { createHash } from 'node:crypto';
import type { ApprovalDetails } from '../contract.ts';
import { ProblemError } from '../core/base/problem.ts';
import { instantMs } from '../core/messages/control.ts';
import type { Seals } from './sealed-text.ts';

/** The origin of a gateway, as in its identity file's `public_url`. Throws `policy_invalid` for any other text. */
export function gatewayOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url?.protocol === 'http:' && /^(?:127\.[\d.]+|localhost|\[::1\])$/.test(url.hostname);
  if (url !== undefined && (url.protocol === 'https:' || isLocal) && url.origin === text.replace(/\/$/, '')) {
    return url.origin;
  }
  const message = `The gateway's address must be an https origin without a path, such as https://approvals.example.com; http only on this machine.`;
  throw policyInvalid(message);
}

type Place = Pick<ChannelRequest, 'workflowId'> & Partial<Pick<ChannelRequest, 'requestId'>>;

/** The address of the request, or of its run, in the inbox of the gateway at `origin`. The inbox requires a sign-in. */
export function inboxUrl(origin: string, { workflowId, requestId }: Place): string {
  const run = asPart(workflowId);
  return `${origin}/inbox/${requestId === undefined ? `runs/${run}` : `requests/${run}/${asPart(requestId)}`}`;
}

/** A text as a part of an address, where half a surrogate pair is not valid. */
function asPart(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** What a link permits: one answer of one person to one request, in its state when the link was made. */
export interface Link {
  readonly requestId: string;
  readonly workflowId: string;
  readonly digest: string;
  readonly reviewer: string;
}

const defaultMs = 7 * 24 * 3_600_000;
const longestMs = 30 * 24 * 3_600_000;

/**
 * When a link expires, in milliseconds since 1970: at the deadline of its request at the latest. Throws a
 * `ProblemError` for an instant out of range.
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

/** The address of a link. Opening it decides nothing; only the form on its page does. */
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

/** The `decisionId` of a link's one answer. By it the run refuses a second one; the gateway stores nothing. */
export function decisionIdOf(link: string): string {
  return `link-${createHash('sha256').update(link).digest('hex')}`;
}
