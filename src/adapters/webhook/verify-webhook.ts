import { checkCallOptions } from '../../text/check-call-options.ts';
import { isObject } from '../../core/base/json.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { readJson, utf8Text } from '../../text/read-json.ts';
import { isRequestId } from '../../core/messages/decision.ts';
import { type SignatureHeaders, sign, signingKeys, verify } from './signature.ts';
import type { WebhookBody } from './webhook-settings.ts';

/** A POST request as a receiver got it. */
export interface ReceivedWebhook {
  /** One secret or several. The request may be signed with any of them. */
  secret: string | readonly string[];
  /** The headers: `request.headers` of Node or of `fetch`. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body exactly as received, before any parsing. */
  body: string | Uint8Array;
}

/** A POST request whose signature is valid. */
export interface VerifiedWebhook {
  /** An id that all attempts to send this message have. Store it, and skip messages that you already have. */
  webhookId: string;
  request: WebhookBody;
}

/**
 * Verifies and reads a POST request of a webhook channel, in its receiver. The request must be at most five minutes
 * old. Throws a `ProblemError`: `forbidden` for an invalid signature, `undecodable` for an invalid body,
 * `policy_invalid` without a secret.
 *
 * @example
 * ```ts
 * import { isProblemError } from 'countersign';
 * import { signWebhook, verifyWebhook } from 'countersign/channels';
 *
 * const secret = 'a secret of at least sixteen bytes';
 * const body = JSON.stringify({ requestId: '0'.repeat(32), delivery: { event: 'asked' } });
 * const headers = { ...signWebhook(secret, { id: 'msg_1', body }) };
 * console.log(verifyWebhook({ secret, headers, body }).webhookId); // msg_1
 * try {
 *   verifyWebhook({ secret: 'another secret of sixteen bytes', headers, body });
 * } catch (error) {
 *   if (isProblemError(error)) console.log(error.code); // forbidden
 * }
 * ```
 */
export function verifyWebhook({ secret, headers, body }: ReceivedWebhook): VerifiedWebhook {
  const text = typeof body === 'string' ? body : utf8Text(body);
  if (text === undefined) throw undecodable('it is not UTF-8');
  const webhookId = verify(signingKeys([secret].flat()), flat(headers), text);
  const read = readJson(text, { root: 'body' });
  if ('problem' in read) throw undecodable(read.problem);
  const { value } = read;
  if (isObject(value) && isRequestId(value['requestId']) && isObject(value['delivery'])) {
    return { webhookId, request: value as unknown as WebhookBody };
  }
  throw undecodable('it holds no request');
}

/**
 * Returns the headers that sign an answer, in a receiver. `id` is new for each answer, and the same for a retry. Throws
 * `arguments_invalid` for an unknown member.
 *
 * @example See {@link verifyWebhook}.
 */
export function signWebhook(secret: string, signed: { id: string; body: string }): SignatureHeaders {
  checkCallOptions('signWebhook', signed, { id: true, body: true });
  return sign(signingKeys([secret]), signed);
}

function flat(headers: ReceivedWebhook['headers']): Record<string, string | undefined> {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')]));
}

function undecodable(why: string): ProblemError {
  return new ProblemError({ code: 'undecodable', message: `The body of the webhook cannot be read: ${why}.` });
}
