import type { WebClient, WebClientOptions } from '@slack/web-api';
import { NotTaken } from '../../channels/outgoing/not-taken.ts';
import type { SlackSettings } from './slack-settings.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';

const rateRetries = 3;
const timeoutMs = 10_000;

/**
 * Returns a client of Slack's API. It retries rate-limited calls after Slack's delay, unless `waitsForRate` is false.
 * It retries no other calls, because Slack may have performed them; callers check that before they retry.
 */
export async function openWebClient(
  { token, apiUrl }: SlackSettings,
  { signal, waitsForRate = true }: { signal?: AbortSignal; waitsForRate?: boolean } = {},
): Promise<WebClient> {
  const { WebClient, LogLevel } = await import('@slack/web-api');
  // The client's type lacks `onFailedAttempt`, which the package `retry` calls. If it throws, there is no retry.
  const retryConfig = { retries: rateRetries, minTimeout: 100, onFailedAttempt: throwUnlessRateLimited };
  const fetchUntil: WebClientOptions['fetch'] = (url, init = {}) => {
    const signals = [init.signal, signal].filter((each) => each !== undefined);
    return fetch(url, { ...init, ...(signals.length > 0 && { signal: AbortSignal.any(signals) }) });
  };
  return new WebClient(token, {
    retryConfig,
    rejectRateLimitedCalls: !waitsForRate,
    timeout: timeoutMs,
    // The client's warnings name no remedy, and its errors are thrown anyway.
    logLevel: LogLevel.ERROR,
    fetch: fetchUntil,
    ...(apiUrl !== undefined && { slackApiUrl: apiUrl }),
  });
}

function throwUnlessRateLimited(error: Error): void {
  if (!error.message.includes('rate limit')) throw error;
}

const remedies: Record<string, string> = {
  not_in_channel: 'invite the app to the channel',
  channel_not_found: 'check the id of the channel, and invite the app to it if it is private',
  is_archived: 'choose a channel that is not archived',
  invalid_auth: 'check the token',
  not_authed: 'check the token',
  account_inactive: 'install the app again, and replace the token',
  token_revoked: 'install the app again, and replace the token',
  missing_scope: 'give the app the scopes of docs/slack.md, and install it again',
};

/** Returns the code with which Slack refused a call; undefined if Slack sent none. */
export function refusalCode(error: unknown): string | undefined {
  const { data } = error as { data?: { error?: unknown } };
  return typeof data?.error === 'string' ? data.error.slice(0, 100) : undefined;
}

/** The codes with which Slack refuses the content of a message. */
const aboutMessage: readonly string[] = [
  'invalid_blocks',
  'msg_too_long',
  'msg_blocks_too_long',
  'invalid_metadata_format',
];

/** Converts an error of a call to one whose sentence names a remedy, and does not contain the sent data. */
export function slackProblem(error: unknown, method: string, channel: string): NotTaken {
  const { message, retryAfter } = error as { message?: string; retryAfter?: unknown };
  const code = refusalCode(error);
  const remedy = remedies[code ?? ''];
  const why = code ?? message ?? 'unknown error';
  const sentence = `Slack did not carry out ${method} for channel ${channel}: ${why}${remedy === undefined ? '' : `; ${remedy}`}.`;
  const retryAfterMs = typeof retryAfter === 'number' ? retryAfter * 1_000 : undefined;
  const refusesMessage = aboutMessage.includes(code ?? '');
  return new NotTaken({ code: 'internal', message: sentence }, { retryAfterMs, refusesMessage, cause: error });
}

/** Awaits a call, and converts its errors by `slackProblem`. */
export async function orSlackProblem<Result>(call: Promise<Result>, method: string, channel: string): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    throw slackProblem(error, method, channel);
  }
}

/** How far the timestamp of a signed request may be from the present time, in seconds. */
const windowSeconds = 300;

/** True if Slack signed these bytes with the secret (signature version `v0`), at a time within `windowSeconds` of now. */
export function isSignedBySlack(
  { headers, body }: { headers: Headers; body: Uint8Array },
  secret: string,
  nowMs = Date.now(),
): boolean {
  const timestamp = headers.get('x-slack-request-timestamp') ?? '';
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowMs / 1_000 - Number(timestamp)) > windowSeconds) return false;
  const expected = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest();
  const given = /^v0=([0-9a-f]{64})$/.exec(headers.get('x-slack-signature') ?? '')?.[1];
  return given !== undefined && timingSafeEqual(Buffer.from(given, 'hex'), expected);
}
