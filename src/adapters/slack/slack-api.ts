import type { WebClient, WebClientOptions } from '@slack/web-api';
import { NotTaken } from '../../channels/outgoing/not-taken.ts';
import type { SlackSettings } from './slack-settings.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';

/** How often a rate-limited call is repeated, and how long one call may take. */
const rateRetries = 3;
const timeoutMs = 10_000;

/**
 * A client of Slack's API. Unless `waitsForRate` is false, it waits for Slack's delay and repeats rate-limited calls.
 * Others are not repeated, because Slack may have performed them: the caller checks before a retry.
 */
export async function openWebClient(
  { token, apiUrl }: SlackSettings,
  { signal, waitsForRate = true }: { signal?: AbortSignal; waitsForRate?: boolean } = {},
): Promise<WebClient> {
  const { WebClient, LogLevel } = await import('@slack/web-api');
  // `retry` passes the option on, and its types do not have it.
  const retryConfig = { retries: rateRetries, minTimeout: 100, onFailedAttempt: onlyForRate };
  const fetchUntil: WebClientOptions['fetch'] = (url, init = {}) => {
    const signals = [init.signal, signal].filter((each) => each !== undefined);
    return fetch(url, { ...init, ...(signals.length > 0 && { signal: AbortSignal.any(signals) }) });
  };
  return new WebClient(token, {
    retryConfig,
    rejectRateLimitedCalls: !waitsForRate,
    timeout: timeoutMs,
    // Its warnings name no remedy, and errors are thrown.
    logLevel: LogLevel.ERROR,
    fetch: fetchUntil,
    ...(apiUrl !== undefined && { slackApiUrl: apiUrl }),
  });
}

function onlyForRate(error: Error): void {
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

/** The code with which Slack refused a call; undefined if it sent none. */
export function refusalCode(error: unknown): string | undefined {
  const { data } = error as { data?: { error?: unknown } };
  return typeof data?.error === 'string' ? data.error.slice(0, 100) : undefined;
}

/** With these codes Slack refuses the content of a message. */
const aboutMessage: readonly string[] = [
  'invalid_blocks',
  'msg_too_long',
  'msg_blocks_too_long',
  'invalid_metadata_format',
];

/** An error of a call as one sentence, without the sent data. */
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

/** The result of a call, whose errors become a `slackProblem`. */
export async function orSlackProblem<Result>(call: Promise<Result>, method: string, channel: string): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    throw slackProblem(error, method, channel);
  }
}

/** How old a signed request may be, and how far ahead its clock, in seconds. */
const windowSeconds = 300;

/** True if Slack signed these bytes with the secret within the last five minutes (signature version `v0`). */
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
