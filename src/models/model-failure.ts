import {
  AISDKError,
  APICallError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider';
import type { ProblemCode } from '../core/base/problem.ts';
import { describeIssues, type Issue } from '../agents/tool-schema.ts';
import { readJson } from '../text/read-json.ts';
import { quote } from './quote.ts';

export type ModelFailureKind = Extract<ProblemCode, `model_${string}`>;

/** The reason why a model returned no turn. `message` is one sentence that quotes nothing of the request (I13). */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure' as const;
  readonly kind: ModelFailureKind;
  /** The wait that the provider requests before another attempt, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: ModelFailureKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Classifies any error that a provider throws or streams. The new message never repeats the provider's, which may
 * contain the API key. It may contain a known error code, and the start of an unreadable answer without likely secrets.
 * `nowMs` is the present time, for a `Retry-After` header with a date.
 */
export function toModelFailure(error: unknown, nowMs: number): ModelFailure {
  if (error instanceof ModelFailure) return error;
  if (APICallError.isInstance(error)) return fromHttp(error, nowMs);
  if (AISDKError.isInstance(error)) {
    return refusedBeforeSending.has(error.name)
      ? new ModelFailure('model_refused', `The model cannot be asked this (${error.name}): check the model's options.`)
      : unreadableFailure('model', error, error.name);
  }
  const code = knownCode(error);
  if (code === 'rate_limit_exceeded' || code === 'rate_limit_error') {
    return new ModelFailure('model_rate_limited', 'The model is rate limited.');
  }
  return code === undefined ? fromConnection(error, 'model') : brokeOff('model', code);
}

const refusedBeforeSending = new Set([
  'AI_InvalidArgumentError',
  'AI_InvalidPromptError',
  'AI_LoadAPIKeyError',
  'AI_LoadSettingError',
  'AI_NoSuchModelError',
  'AI_UnsupportedFunctionalityError',
]);

/** Returns the failure for an HTTP status: rate limited, unavailable, refused or unreadable. */
function fromHttp(error: APICallError, nowMs: number): ModelFailure {
  const { statusCode: status } = error;
  const where = `model at ${hostOf(error.url)}`;
  // A stream that was cut off still has the status 2xx of its start, so a network error outweighs that status.
  if (status === undefined || (status < 300 && networkCode(error) !== undefined)) return fromConnection(error, where);
  const code = knownCode(error.data);
  const what = `${status}${code ? ` ${code}` : ''}`;
  if (status === 429) {
    const wait = retryAfterMs(error.responseHeaders, nowMs);
    return new ModelFailure('model_rate_limited', `The ${where} is rate limited (${what}).`, wait);
  }
  if (status >= 500 || status === 408 || status === 425) {
    const wait = retryAfterMs(error.responseHeaders, nowMs);
    return new ModelFailure('model_unavailable', `The ${where} is unavailable (${what}).`, wait);
  }
  if (status < 300) return unreadableFailure(where, error, what);
  return new ModelFailure('model_refused', `The ${where} refused the request (${what}): ${remedy(status)}.`);
}

function unreadableFailure(where: string, error: unknown, otherwise: string): ModelFailure {
  const what = unreadableAnswer(error) ?? otherwise;
  return new ModelFailure('model_output_invalid', `The answer of the ${where} cannot be read (${what}).`);
}

const unreachable = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function fromConnection(error: unknown, where: string): ModelFailure {
  const code = networkCode(error);
  return code !== undefined && unreachable.has(code)
    ? new ModelFailure('model_unavailable', `The ${where} cannot be reached (${code}): check its base URL.`)
    : brokeOff(where, code ?? className(error));
}

function brokeOff(where: string, detail: string | undefined): ModelFailure {
  return new ModelFailure('model_unavailable', `The ${where} broke off${detail ? ` (${detail})` : ''}.`);
}

function remedy(status: number): string {
  if (status === 401 || status === 403) return 'check its API key and what the key may use';
  if (status === 404) return 'check the model name and the base URL';
  if (status === 413) return 'the conversation is too large for it';
  return 'check the model name, its limits and the tools’ schemas';
}

/** Error codes that an operator can act on. The most specific come first, because an answer may have two of them. */
const knownCodes = [
  'billing_hard_limit_reached',
  'content_policy_violation',
  'context_length_exceeded',
  'insufficient_quota',
  'invalid_api_key',
  'model_not_found',
  'overloaded_error',
  'rate_limit_exceeded',
  'unsupported_parameter',
  'unsupported_value',
  'rate_limit_error',
  'server_error',
  'invalid_request_error',
] as const;

/** Returns the known error code in `{ code }`, `{ type }`, or either inside `{ error }`; undefined without one. */
function knownCode(data: unknown): (typeof knownCodes)[number] | undefined {
  const outer = (data ?? {}) as { error?: unknown; code?: unknown; type?: unknown };
  const inner = (outer.error ?? {}) as { code?: unknown; type?: unknown };
  const words = [outer.code, outer.type, inner.code, inner.type];
  return knownCodes.find((known) => words.includes(known));
}

/** Returns the error code of the operating system, such as `ECONNREFUSED`, from an error or one of its first causes. */
function networkCode(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth++) {
    const { code, cause } = current as { code?: unknown; cause?: unknown };
    if (typeof code === 'string' && /^(E|UND_ERR_)[A-Z_]{2,40}$/.test(code)) return code;
    current = cause;
  }
  return undefined;
}

/** Returns the class of an unexpected error, such as `TypeError` for a bug in a custom model. */
function className(error: unknown): string | undefined {
  const { name } = (error ?? {}) as { name?: unknown };
  return typeof name === 'string' && /^([A-Z][a-z]{1,15})+$/.test(name) ? name : undefined;
}

/** Returns only host and port, because other parts of a URL may contain a password or a key. */
function hostOf(url: string): string {
  return URL.parse(url)?.host || 'its address';
}

/** The longest wait that a header can impose, in milliseconds. */
export const longestRetryAfterMs = 3_600_000;

/** Returns the wait in `retry-after-ms`, or in `retry-after` as seconds or a date; undefined without one. */
export function retryAfterMs(headers: Record<string, string> | undefined, nowMs: number): number | undefined {
  const wait = readMilliseconds(headers?.['retry-after-ms']) ?? readSecondsOrDate(headers?.['retry-after'], nowMs);
  return wait === undefined ? undefined : Math.min(Math.max(Math.ceil(wait), 0), longestRetryAfterMs);
}

function readMilliseconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}

function readSecondsOrDate(text: string | undefined, nowMs: number): number | undefined {
  const seconds = readMilliseconds(text);
  if (seconds !== undefined) return seconds * 1_000;
  // Only HTTP's own date format is accepted: `Date.parse` accepts almost anything, even a negative number.
  const at = /^[A-Z][a-z]{2}, .+ GMT$/.test(text ?? '') ? Date.parse(text ?? '') : Number.NaN;
  return Number.isNaN(at) ? undefined : at - nowMs;
}

/** HTTP statuses that refuse the content of a request, not its sender or its rate. */
const refusals = new Set([400, 404, 405, 406, 415, 422, 501]);

export function refusesRequest(error: unknown): error is APICallError {
  return APICallError.isInstance(error) && refusals.has(error.statusCode ?? 0);
}

/** What cannot be read in a model's answer, such as `answer.choices: expected array`; undefined for other errors. */
export function unreadableAnswer(error: unknown): string | undefined {
  if (APICallError.isInstance(error)) return unreadableAnswer(error.cause);
  if (JSONParseError.isInstance(error)) {
    const read = readJson(error.text, { root: 'answer' });
    return described('problem' in read ? read.problem : 'answer: expected other JSON', error.text);
  }
  if (TypeValidationError.isInstance(error)) {
    const { issues } = (error.cause ?? {}) as { issues?: readonly Issue[] };
    return described(
      issues === undefined ? 'answer: expected another form' : describeIssues('answer', issues),
      error.value,
    );
  }
  if (InvalidResponseDataError.isInstance(error)) return described(error.message, error.data);
  return undefined;
}

function described(problem: string, answer: unknown): string {
  const text = typeof answer === 'string' ? answer : answer === undefined ? '' : JSON.stringify(answer);
  return `${quote(problem).replace(/\.$/, '')}${text.trim() === '' ? '' : `; it begins ${quote(text)}`}`;
}
