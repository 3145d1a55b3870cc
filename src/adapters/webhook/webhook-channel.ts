import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerDecision, answerDigest } from '../../channels/channel-answer.ts';
import {
  type Channel,
  type ChannelAnswer,
  type ChannelRequest,
  type PostedAnswer,
  type ResolveContext,
  type TestContext,
  testText,
} from '../../channels/channel.ts';
import type { Decision } from '../../contract.ts';
import { isProblemError, ProblemError, isTransient } from '../../core/base/problem.ts';
import { exchange, reachHost, refusedStatus } from '../../channels/outgoing/exchange.ts';
import { inFullOrShort, retryAfterOf, shortRequest } from '../../channels/outgoing/not-taken.ts';
import { legacyMembers, legacySignature } from './legacy-signature.ts';
import { readAnswer } from './read-answer.ts';
import { sign, verify } from './signature.ts';
import type { WebhookBody, WebhookDelivery, WebhookOptions } from './webhook-options.ts';
import { type WebhookSettings, webhookSettings } from './webhook-settings.ts';

interface RetryOptions {
  /** The most consecutive transient failures that are retried. */
  retries: number;
  /** The wait after the first failure, in milliseconds; it doubles each time, up to a minute. */
  firstWaitMs: number;
  /** The wait after an attempt without a value, in milliseconds. Default: `firstWaitMs`. */
  intervalMs?: number;
  signal: AbortSignal;
}

const longestWaitMs = 60_000;

const requestIdHeader = 'countersign-request-id';
/** Why the answer to the last GET does not count, for the receiver's operator. */
const problemHeader = 'countersign-answer-problem';
/** Codes of an invalid answer. */
const answerProblems: ReadonlySet<string> = new Set(['invalid_decision', 'digest_mismatch', 'too_large']);
/** With these, a receiver reports that the body is not a request. */
const takesNoTests: readonly number[] = [400, 422];
const pollRetries = 4;

/**
 * A channel that posts requests to a web service, signed, and receives its answers (docs/webhook.md). Throws
 * `policy_invalid` without a secret, for a forbidden address, and for invalid options, and a `DefinitionError` for an
 * unknown option.
 *
 * @example See {@link readChannels}, which makes it from a file.
 */
export async function webhookChannel(options: WebhookOptions): Promise<Channel> {
  const settings = await webhookSettings(options);
  return {
    retries: true,
    reach: (signal) => reachHost(settings.url, settings.agents, settings.requestTimeoutMs, signal),
    test: (context) => test(settings, context),
    notify: (request, { step, key, signal }) => {
      const { kind: event, to } = step;
      const callbackUrl = callbackUrlFor(settings, request);
      return post(settings, request, { event, ...(to && { to }), ...(callbackUrl && { callbackUrl }) }, key, signal);
    },
    settled: (request, settlement, { key, signal }) =>
      post(settings, { ...request, settled: settlement }, { event: 'settled' }, key, signal),
    ...(settings.poll && { resolve: (request, signal, context) => poll(settings, request, signal, context) }),
    ...(settings.callbackUrl !== undefined && { receive: (posted) => receive(settings, posted) }),
  };
}

/** Posts no request: a receiver that supports tests answers 2xx, another one reports an invalid request. */
async function test(settings: WebhookSettings, { key, signal }: TestContext): Promise<string> {
  const { url, keys, headers, agents, requestTimeoutMs, name } = settings;
  const body = JSON.stringify({ delivery: { event: 'test' }, channel: name, text: testText });
  const id = `msg_${createHash('sha256').update(key).digest('hex').slice(0, 40)}`;
  const sent = {
    ...headers,
    'content-type': 'application/json',
    'user-agent': 'countersign',
    ...sign(keys, { id, body }),
  };
  const answer = await exchange({ method: 'POST', url, headers: sent, body, signal }, agents, requestTimeoutMs);
  if (answer.status >= 200 && answer.status < 300) return `a signed message to ${url.origin}`;
  if (takesNoTests.includes(answer.status)) {
    return `a signed message to ${url.origin}, which answered ${answer.status}: it is there, and takes no test`;
  }
  throw withRemedy(refusedStatus(url, answer), answer.status);
}

function withRemedy(problem: ProblemError, status: number): ProblemError {
  const remedy =
    status === 404
      ? " Check the path of 'url'."
      : status === 401 || status === 403
        ? " Check 'secret' and 'headers'."
        : '';
  return remedy === '' ? problem : new ProblemError({ code: problem.code, message: `${problem.message}${remedy}` });
}

async function post(
  settings: WebhookSettings,
  request: ChannelRequest,
  delivery: WebhookDelivery,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  const { url, keys, legacy, headers, agents, requestTimeoutMs } = settings;
  const { requestId, toolName } = request;
  const id = `msg_${createHash('sha256').update(key).digest('hex').slice(0, 40)}`;
  await inFullOrShort(async (isShort) => {
    const shown = isShort ? shortRequest(request) : request;
    const body = JSON.stringify({ ...shown, ...(legacy && legacyMembers(shown)), delivery } satisfies WebhookBody);
    const signed = {
      ...headers,
      'content-type': 'application/json',
      'user-agent': 'countersign',
      [requestIdHeader]: requestId,
      // Signed for each attempt: receivers refuse an old timestamp.
      ...sign(keys, { id, body }),
      ...(legacy && { [legacy.header]: legacySignature(legacy, legacy.secret, { requestId, toolName, body }) }),
    };
    const answer = await exchange({ method: 'POST', url, headers: signed, body, signal }, agents, requestTimeoutMs);
    if (answer.status < 200 || answer.status >= 300) throw refusedStatus(url, answer);
  });
}

async function poll(
  settings: WebhookSettings,
  { requestId, digest }: ChannelRequest,
  signal: AbortSignal,
  { refused }: ResolveContext,
): Promise<ChannelAnswer> {
  const { keys, agents, requestTimeoutMs } = settings;
  const { urlFor, intervalMs, isSigned, isShared } = settings.poll!;
  const url = urlFor(requestId);
  const headers = {
    ...settings.headers,
    accept: 'application/json',
    'user-agent': 'countersign',
    [requestIdHeader]: requestId,
  };
  const ask = async (problem?: string): Promise<ChannelAnswer | undefined> => {
    const sentHeaders = problem === undefined ? headers : { ...headers, [problemHeader]: asHeader(problem) };
    const incoming = await exchange({ method: 'GET', url, headers: sentHeaders, signal }, agents, requestTimeoutMs);
    if (incoming.status === 202) return undefined;
    if (incoming.status === 404) throw notThereYet(url);
    if (incoming.status !== 200) throw refusedStatus(url, incoming);
    if (incoming.text === undefined) throw unreadableAnswer();
    const given = signatureOf(incoming.headers);
    const isChecked = isSigned || given['webhook-signature'] !== undefined;
    if (isChecked) verify(keys, given, incoming.text);
    // A signature proves the sender; only these members name the request.
    const named = isChecked ? (['requestId', 'digest'] as const) : isShared ? (['requestId'] as const) : [];
    const answer = readAnswer(incoming.text, { requestId, digest, named });
    return answerDigest(answer) === refused?.digest ? undefined : answer;
  };
  // A receiver cannot read the worker's log, so a second GET tells it why its answer does not count.
  const askTwice = (): Promise<ChannelAnswer | undefined> =>
    ask().catch((error: unknown) => {
      if (!isProblemError(error) || !answerProblems.has(error.code)) throw error;
      return ask(error.message);
    });
  return retryUntilValue(askTwice, { retries: pollRetries, firstWaitMs: 2 * intervalMs, intervalMs, signal });
}

/** The decision of an answer that the receiver has posted to the gateway. */
function receive({ keys }: WebhookSettings, { channel, requestId, headers, body }: PostedAnswer): Decision {
  const id = verify(keys, headers, body);
  const { reviewerId = `channel:${channel}`, ...answer } = readAnswer(body, {
    requestId,
    named: ['requestId', 'digest'],
  });
  // The run stores ids of decisions, so a repeated answer gives the same receipt and changes nothing.
  const decisionId = `channel:${channel}:${id}`;
  return { ...answerDecision(answer, 'webhook'), requestId, reviewerId, decisionId };
}

function callbackUrlFor({ callbackUrl, name }: WebhookSettings, request: ChannelRequest): string | undefined {
  if (callbackUrl === undefined) return undefined;
  const [channel, requestId, workflowId] = [name, request.requestId, request.workflowId].map(encodeURIComponent);
  return `${callbackUrl}/channels/${channel}/answers/${requestId}?workflowId=${workflowId}`;
}

function signatureOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, [headers[name]].flat()[0]]),
  );
}

/** A text as the value of a header. */
function asHeader(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}

/** The request may not have been posted yet. */
function notThereYet({ origin }: URL): ProblemError {
  const message = `The webhook's receiver at ${origin} does not know the request: it answered 404.`;
  return new ProblemError({ code: 'internal', message });
}

function unreadableAnswer(): ProblemError {
  const message = `The answer of the webhook's receiver does not count: it is longer than 64 kB, or not UTF-8.`;
  return new ProblemError({ code: 'invalid_decision', message });
}

/**
 * Repeats `attempt` until it returns a value. Throws an error that is not transient, a transient one after too many in a
 * row, and the signal's reason.
 */
async function retryUntilValue<Value>(
  attempt: () => Promise<Value | undefined>,
  { retries, firstWaitMs, intervalMs = firstWaitMs, signal }: RetryOptions,
): Promise<Value> {
  let failures = 0;
  for (;;) {
    signal.throwIfAborted();
    let waitMs = intervalMs;
    try {
      const value = await attempt();
      if (value !== undefined) return value;
      failures = 0;
    } catch (error) {
      signal.throwIfAborted();
      if (!isProblemError(error) || !isTransient(error.code) || failures === retries) throw error;
      waitMs = Math.max(Math.min(firstWaitMs * 2 ** failures, longestWaitMs), retryAfterOf(error) ?? 0);
      failures++;
    }
    await untilLater(waitMs, signal);
  }
}

async function untilLater(waitMs: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(waitMs, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
