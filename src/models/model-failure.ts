import { AISDKError, APICallError } from '@ai-sdk/provider';
import { retryAfterMs } from './retry-after.ts';

export type ModelFailureKind = 'model_rate_limited' | 'model_unavailable' | 'model_refused' | 'model_output_invalid';

/** Why a model gave no turn. `message` is one sentence that holds nothing of the request's headers or bodies (I13). */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure' as const;
  readonly kind: ModelFailureKind;
  /** How long the provider asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: ModelFailureKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Classifies, once, whatever a provider throws or streams as an error.
 *
 * A provider's own text is never passed on: some repeat the key in it. Its error code is, where it is a known word.
 * `nowMs` is milliseconds since the epoch, for a Retry-After that is a date.
 */
export function toModelFailure(error: unknown, nowMs: number): ModelFailure {
  if (error instanceof ModelFailure) return error;
  if (APICallError.isInstance(error)) return fromHttp(error, nowMs);
  if (AISDKError.isInstance(error)) {
    return refusedBeforeSending.has(error.name)
      ? new ModelFailure('model_refused', `The model cannot be asked this (${error.name}): check the model's options.`)
      : new ModelFailure('model_output_invalid', `The model's answer was malformed or cut off (${error.name}).`);
  }
  const code = knownCode(error);
  if (code === 'rate_limit_exceeded' || code === 'rate_limit_error') {
    return new ModelFailure('model_rate_limited', 'The model is rate limited.');
  }
  const detail = code ?? networkCode(error);
  return new ModelFailure('model_unavailable', `The model's answer broke off${detail ? ` (${detail})` : ''}.`);
}

const refusedBeforeSending = new Set([
  'AI_InvalidArgumentError',
  'AI_InvalidPromptError',
  'AI_LoadAPIKeyError',
  'AI_LoadSettingError',
  'AI_NoSuchModelError',
  'AI_UnsupportedFunctionalityError',
]);

function fromHttp(error: APICallError, nowMs: number): ModelFailure {
  const { statusCode: status } = error;
  const where = hostOf(error.url);
  if (status === undefined) {
    const code = networkCode(error);
    return new ModelFailure(
      'model_unavailable',
      `The model server at ${where} cannot be reached${code ? ` (${code})` : ''}.`,
    );
  }
  const code = knownCode(error.data);
  const what = `${status}${code ? ` ${code}` : ''}`;
  if (status === 429) {
    const wait = retryAfterMs(error.responseHeaders, nowMs);
    return new ModelFailure('model_rate_limited', `The model at ${where} is rate limited (${what}).`, wait);
  }
  if (status >= 500 || status === 408 || status === 425 || (status < 300 && networkCode(error) !== undefined)) {
    const wait = retryAfterMs(error.responseHeaders, nowMs);
    return new ModelFailure('model_unavailable', `The model at ${where} is unavailable (${what}).`, wait);
  }
  if (status < 300) {
    return new ModelFailure('model_output_invalid', `The answer of the model at ${where} cannot be read (${what}).`);
  }
  return new ModelFailure('model_refused', `The model at ${where} refused the request (${what}): ${remedy(status)}.`);
}

function remedy(status: number): string {
  if (status === 401 || status === 403) return 'check its API key and what the key may use';
  if (status === 404) return 'check the model name and the base URL';
  if (status === 413) return 'the conversation is too large for it';
  return 'check the model name, its limits and the tools’ schemas';
}

const knownCodes = [
  'billing_hard_limit_reached',
  'content_policy_violation',
  'context_length_exceeded',
  'insufficient_quota',
  'invalid_api_key',
  'invalid_request_error',
  'model_not_found',
  'overloaded_error',
  'rate_limit_error',
  'rate_limit_exceeded',
  'server_error',
  'unsupported_parameter',
  'unsupported_value',
] as const;

/** A provider's error code, if it is one of the known words: `{ code }`, `{ type }`, or either inside `{ error }`. */
function knownCode(data: unknown): (typeof knownCodes)[number] | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const { error, code, type } = data as { error?: unknown; code?: unknown; type?: unknown };
  return knownCodes.find((known) => known === code) ?? knownCodes.find((known) => known === type) ?? knownCode(error);
}

/** The system's code, such as `ECONNREFUSED`, of an error or of one of its first causes. */
function networkCode(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth++) {
    const { code, cause } = current as { code?: unknown; cause?: unknown };
    if (typeof code === 'string' && /^(E|UND_ERR_)[A-Z_]{2,40}$/.test(code)) return code;
    current = cause;
  }
  return undefined;
}

/** Host and port; a URL may hold a password or a key elsewhere. */
function hostOf(url: string): string {
  return URL.parse(url)?.host || 'its address';
}
