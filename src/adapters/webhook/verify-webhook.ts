import { checkCallOptions } from '../../text/check-call-options.ts';
import { isObject } from '../../core/base/json.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { readJson, utf8Text } from '../../text/read-json.ts';
import { isRequestId } from '../../core/messages/decision.ts';
import { type SignatureHeaders, sign, signingKeys, verify } from './signature.ts';
import type { WebhookBody } from './webhook-settings.ts';

/** A POST as a receiver got it. */
export interface ReceivedWebhook {
  /** One secret or several; the POST may be signed with any. */
  secret: string | readonly string[];
  /** Of the request: `request.headers` of Node or of `fetch`. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body exactly as received, before any parsing. */
  body: string | Uint8Array;
}

/** A POST that is genuine. */
export interface VerifiedWebhook {
  /** The same for each attempt to send this message: store it, and skip a message that you already have. */
  webhookId: string;
  request: WebhookBody;
}

/**
 * For receivers: reads a POST of a webhook channel with this secret that is at most five minutes old. Throws a
 * `ProblemError`: `forbidden` for one that is not signed so, `undecodable` for another body, `policy_invalid` without a
 * secret.
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
 * For receivers: the headers that sign an answer. `id` is new for each answer, and the same for a retry. Throws
 * `arguments_invalid` for another member.
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
