import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerDecision, answerDigest, answerMembers, parseAnswer } from '../../channels/channel-answer.ts';
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
import { exchange, type Incoming, reachHost, refusedStatus } from '../../channels/outgoing/exchange.ts';
import { inFullOrShort, retryAfterOf, shortRequest } from '../../channels/outgoing/not-taken.ts';
import { legacyMembers, legacySignature, sign, verify } from './signature.ts';
import type { WebhookBody, WebhookDelivery, WebhookOptions, WebhookSettings } from './webhook-settings.ts';
import { webhookSettings } from './webhook-settings.ts';
import { z } from 'zod';
import type { ChannelKind } from '../../channels/channel-kind.ts';
import { durationBetween, readSecret, secretPlace, secretShape } from '../../channels/channel-kind.ts';
import { isObject } from '../../core/base/json.ts';
import { readJson } from '../../text/read-json.ts';

const requestIdHeader = 'countersign-request-id';
/** The header that reports to the receiver's operator why the receiver's last answer does not count. */
const problemHeader = 'countersign-answer-problem';
const answerProblems: ReadonlySet<string> = new Set(['invalid_decision', 'digest_mismatch', 'too_large']);
/** A receiver with one of these statuses is there, but does not recognize the test message as a request. */
const takesNoTests: readonly number[] = [400, 422];
/** The most transient failures in a row of a poll that are retried. */
const pollRetries = 4;
const longestWaitMs = 60_000;

/**
 * Creates a channel that posts signed requests to a web service, and receives its answers (docs/webhook.md). Throws
 * `policy_invalid` without a secret, for a forbidden address and for invalid options, and a `DefinitionError` for an
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

/** Posts a test message. A receiver that knows tests answers 2xx, but `takesNoTests` counts as success, too. */
async function test(settings: WebhookSettings, { key, signal }: TestContext): Promise<string> {
  const { url, name } = settings;
  const body = JSON.stringify({ delivery: { event: 'test' }, channel: name, text: testText });
  const answer = await postSigned(settings, body, key, signal);
  if (answer.status >= 200 && answer.status < 300) return `a signed message to ${url.origin}`;
  if (takesNoTests.includes(answer.status)) {
    return `a signed message to ${url.origin}, which answered ${answer.status}: it is there, and takes no test`;
  }
  throw withRemedy(refusedStatus(url, answer), answer.status);
}

function withRemedy(problem: ProblemError, status: number): ProblemError {
  const isSecret = status === 401 || status === 403;
  if (!isSecret && status !== 404) return problem;
  const part = isSecret ? `'secret' and 'headers'` : `the path of 'url'`;
  return new ProblemError({ code: problem.code, message: `${problem.message} Check ${part}.` });
}

/** Posts a signed request; a shortened one if the receiver refuses the size. Throws for any status but 2xx. */
async function post(
  settings: WebhookSettings,
  request: ChannelRequest,
  delivery: WebhookDelivery,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  const { url, legacy } = settings;
  const { requestId, toolName } = request;
  await inFullOrShort(async (isShort) => {
    const shown = isShort ? shortRequest(request) : request;
    const body = JSON.stringify({ ...shown, ...(legacy && legacyMembers(shown)), delivery } satisfies WebhookBody);
    const answer = await postSigned(settings, body, key, signal, {
      [requestIdHeader]: requestId,
      ...(legacy && { [legacy.header]: legacySignature(legacy, legacy.secret, { requestId, toolName, body }) }),
    });
    if (answer.status < 200 || answer.status >= 300) throw refusedStatus(url, answer);
  });
}

/** Posts a body with a new signature, because receivers refuse old timestamps. Attempts with one `key` have one id. */
function postSigned(
  { url, keys, headers: own, agents, requestTimeoutMs }: WebhookSettings,
  body: string,
  key: string,
  signal: AbortSignal,
  more: Readonly<Record<string, string>> = {},
): Promise<Incoming> {
  const id = `msg_${createHash('sha256').update(key).digest('hex').slice(0, 40)}`;
  const common = { 'content-type': 'application/json', 'user-agent': 'countersign' };
  const headers = { ...own, ...common, ...sign(keys, { id, body }), ...more };
  return exchange({ method: 'POST', url, headers, body, signal }, agents, requestTimeoutMs);
}

/** Polls for the answer to a request. Skips the answer that the run has refused, if the receiver still sends it. */
async function poll(
  settings: WebhookSettings,
  { requestId, digest }: ChannelRequest,
  signal: AbortSignal,
  { refused }: ResolveContext,
): Promise<ChannelAnswer> {
  const { keys, agents, requestTimeoutMs } = settings;
  const { urlFor, intervalMs, isSigned, isShared } = settings.poll!;
  const url = urlFor(requestId);
  const common = { accept: 'application/json', 'user-agent': 'countersign', [requestIdHeader]: requestId };
  const headers = { ...settings.headers, ...common };
  /** Polls once. Undefined if there is no answer yet, or only the one that the run has refused. */
  const pollOnce = async (problem?: string): Promise<ChannelAnswer | undefined> => {
    const sentHeaders = problem === undefined ? headers : { ...headers, [problemHeader]: asHeader(problem) };
    const incoming = await exchange({ method: 'GET', url, headers: sentHeaders, signal }, agents, requestTimeoutMs);
    if (incoming.status === 202) return undefined;
    if (incoming.status === 404) throw notThereYet(url);
    if (incoming.status !== 200) throw refusedStatus(url, incoming);
    if (incoming.text === undefined) throw unreadableAnswer();
    const given = signatureOf(incoming.headers);
    const isChecked = isSigned || given['webhook-signature'] !== undefined;
    if (isChecked) verify(keys, given, incoming.text);
    const answer = readAnswer(incoming.text, { requestId, digest, named: namedIn(isChecked, isShared) });
    return answerDigest(answer) === refused?.digest ? undefined : answer;
  };
  // Send a second GET that says why the answer does not count, because a receiver cannot read the worker's log.
  const pollAndReport = (): Promise<ChannelAnswer | undefined> =>
    pollOnce().catch((error: unknown) => {
      if (!isProblemError(error) || !answerProblems.has(error.code)) throw error;
      return pollOnce(error.message);
    });
  return untilAnswer(pollAndReport, intervalMs, signal);
}

/** The members that an answer must have: a signature proves only the sender, and a shared URL names no request. */
function namedIn(isSigned: boolean, isShared: boolean): AnsweredRequest['named'] {
  if (isSigned) return ['requestId', 'digest'];
  return isShared ? ['requestId'] : [];
}

/** Verifies an answer that was posted to the gateway, and converts it to a decision. Throws a `ProblemError`. */
function receive({ keys }: WebhookSettings, { channel, requestId, headers, body }: PostedAnswer): Decision {
  const id = verify(keys, headers, body);
  const { reviewerId = `channel:${channel}`, ...answer } = readAnswer(body, {
    requestId,
    named: ['requestId', 'digest'],
  });
  // The run stores the ids of decisions, so an answer that is posted twice changes nothing and gets the same receipt.
  const decisionId = `channel:${channel}:${id}`;
  return { ...answerDecision(answer, 'webhook'), requestId, reviewerId, decisionId };
}

function callbackUrlFor({ callbackUrl, name }: WebhookSettings, request: ChannelRequest): string | undefined {
  if (callbackUrl === undefined) return undefined;
  const [channel, requestId, workflowId] = [name, request.requestId, request.workflowId].map(encodeURIComponent);
  return `${callbackUrl}/channels/${channel}/answers/${requestId}?workflowId=${workflowId}`;
}

function signatureOf(headers: Incoming['headers']): Record<string, string | undefined> {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return Object.fromEntries(names.map((name) => [name, [headers[name]].flat()[0]]));
}

function asHeader(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}

/** The error for status 404, which is transient because the request may not have been posted yet. */
function notThereYet({ origin }: URL): ProblemError {
  const message = `The webhook's receiver at ${origin} does not know the request: it answered 404.`;
  return new ProblemError({ code: 'internal', message });
}

function unreadableAnswer(): ProblemError {
  const message = `The answer of the webhook's receiver does not count: it is longer than 64 kB, or not UTF-8.`;
  return new ProblemError({ code: 'invalid_decision', message });
}

/**
 * Polls until there is an answer. After a failure the wait doubles, or is what the receiver asks for if that is longer.
 * Throws an error that is not transient, or one too many transient in a row, and the signal's reason if it aborts.
 */
async function untilAnswer(
  ask: () => Promise<ChannelAnswer | undefined>,
  intervalMs: number,
  signal: AbortSignal,
): Promise<ChannelAnswer> {
  let failures = 0;
  for (;;) {
    signal.throwIfAborted();
    let waitMs = intervalMs;
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
      failures = 0;
    } catch (error) {
      signal.throwIfAborted();
      if (!isProblemError(error) || !isTransient(error.code) || failures === pollRetries) throw error;
      failures++;
      waitMs = Math.max(Math.min(intervalMs * 2 ** failures, longestWaitMs), retryAfterOf(error) ?? 0);
    }
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

const text = z.string().min(1, 'must not be empty').max(2_000, 'must have at most 2000 characters');
/** The schema of a URL, which may be a secret. */
const url = z.union([text, secretShape], 'must be a URL, { env: NAME } or { file: PATH }');
const secretName = /auth|token|secret|key|cookie|password/i;

const shape = z
  .strictObject({
    url,
    secret: z.union(
      [secretShape, z.array(secretShape).min(1, 'must name a secret').max(5, 'must have at most 5 items')],
      secretPlace,
    ),
    poll: z.boolean().optional(),
    poll_url: url.optional(),
    poll_interval: durationBetween('500ms', '1h', '2s').optional(),
    callback_url: text.optional(),
    signed_answers: z.boolean().optional(),
    legacy_signature: z
      .strictObject({ header: text, over: z.enum(['body', 'id_and_tool']), secret: secretShape.optional() })
      .optional(),
    headers: z
      .record(z.string(), z.union([z.string(), secretShape], 'must be a text, { env: NAME } or { file: PATH }'))
      .optional(),
    request_timeout: durationBetween('100ms', '2m', '10s').optional(),
    allow_addresses: z.array(text).max(100, 'must have at most 100 items').optional(),
    proxy: url.optional(),
    tls: z.strictObject({ cert: text.optional(), key: text.optional(), ca: text.optional() }).optional(),
  })
  .superRefine(({ headers = {}, proxy }, context) => {
    for (const [name, value] of Object.entries(headers)) {
      if (typeof value !== 'string' || !secretName.test(name)) continue;
      const message = 'must be { env } or { file }: a secret is not written into the file';
      context.addIssue({ code: 'custom', message, path: ['headers', name] });
    }
    if (typeof proxy === 'string' && /\/\/[^/]*:[^/]*@/.test(proxy)) {
      const message = 'must be { env } or { file } if it has a password: a secret is not written into the file';
      context.addIssue({ code: 'custom', message, path: ['proxy'] });
    }
  });

/** `kind: webhook` in a channel file. */
export const webhookKind: ChannelKind<z.output<typeof shape>> = {
  shape,
  make: (members, { name }) =>
    webhookChannel({
      name,
      url: resolveSecret(members.url),
      secret: [members.secret].flat().map(readSecret),
      poll: members.poll,
      pollUrl: members.poll_url && resolveSecret(members.poll_url),
      pollIntervalMs: members.poll_interval,
      callbackUrl: members.callback_url,
      signedAnswers: members.signed_answers,
      legacySignature: members.legacy_signature && {
        ...members.legacy_signature,
        secret: members.legacy_signature.secret && readSecret(members.legacy_signature.secret),
      },
      headers: Object.fromEntries(
        Object.entries(members.headers ?? {}).map(([key, value]) => [key, resolveSecret(value)]),
      ),
      requestTimeoutMs: members.request_timeout,
      allowAddresses: members.allow_addresses,
      proxy: members.proxy && resolveSecret(members.proxy),
      tls: members.tls,
    }),
};

function resolveSecret(value: string | z.infer<typeof secretShape>): string {
  return typeof value === 'string' ? value : readSecret(value);
}

interface AnsweredRequest {
  requestId: string;
  /** The digest of the call. Without it, only the run compares the digests. */
  digest?: string;
  /** The members that the answer must have, because otherwise nothing shows that it belongs to this request. */
  named: readonly ('requestId' | 'digest')[];
}

/** The time at which the receiver decided. It is ignored, because the time of arrival counts. */
const unusedMember = 'timestamp';
const members = [...Object.keys(answerMembers), 'requestId'];
/** The names of members by their snake_case, which receivers in Python send. */
const spellings: ReadonlyMap<string, string> = new Map(
  members.map((name) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), name]),
);

/**
 * Reads an answer, and adds `digest`, if it is given. Throws a `ProblemError` (`invalid_decision`, `too_large`,
 * `digest_mismatch`) for invalid JSON, a duplicate or unknown member, and an answer about another request or call.
 */
export function readAnswer(text: string, { requestId, digest, named }: AnsweredRequest): ChannelAnswer {
  const read = readJson(text, { root: 'answer', refusedKeys: ['__proto__'] });
  if ('problem' in read) throw invalidAnswer(read.problem);
  if (!isObject(read.value)) throw invalidAnswer('it must be an object { approved }');
  const value = inOurSpelling(read.value);
  const unknown = Object.keys(value).find((name) => !members.includes(name));
  if (unknown !== undefined) throw invalidAnswer(`unknown member '${unknown.slice(0, 40)}'`);
  const missing = named.find((name) => value[name] === undefined);
  if (missing !== undefined) throw invalidAnswer(`it must name the '${missing}' of the request`);
  if (value['requestId'] !== undefined && value['requestId'] !== requestId)
    throw invalidAnswer('it is about another request');
  const parsed = parseAnswer(value, requestId);
  if ('problem' in parsed) throw invalidAnswer(parsed.problem.message, parsed.problem.code);
  const { answer } = parsed;
  if (digest !== undefined && answer.digest !== undefined && answer.digest !== digest) {
    throw invalidAnswer('it is about another call: its digest is not the one that was sent', 'digest_mismatch');
  }
  return { ...answer, ...(digest !== undefined && { digest }) };
}

/** Names members in camelCase, refuses both spellings, and drops `unusedMember` and nulls, Python's missing values. */
function inOurSpelling(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(given)) {
    const ours = spellings.get(name) ?? name;
    if (ours !== name && Object.hasOwn(given, ours)) throw invalidAnswer(`it has both '${ours}' and '${name}'`);
    if (name !== unusedMember) value[ours] = member;
  }
  // Of the members that are objects, only `always` has members of ours: those of edited arguments may be null.
  const { always } = value;
  return withoutNulls(isObject(always) ? { ...value, always: withoutNulls(always) } : value);
}

function withoutNulls(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== null));
}

function invalidAnswer(why: string, code: ProblemError['code'] = 'invalid_decision'): ProblemError {
  return new ProblemError({ code, message: `The answer of the webhook's receiver does not count: ${why}.` });
}
