import { Webhook } from 'standardwebhooks';
import { createHmac } from 'node:crypto';
import { ProblemError } from '../../core/base/problem.ts';
import { policyInvalid } from '../../channels/channel-kind.ts';

/** The headers of Standard Webhooks. */
export interface SignatureHeaders {
  'webhook-id': string;
  /** Seconds since 1970. */
  'webhook-timestamp': string;
  /** A signature `v1,BASE64` for each secret, separated by spaces. */
  'webhook-signature': string;
}

const leastBytes = 16;
/** The form of an id. With a full stop in it, a signature would also fit another id and timestamp. */
const idShape = /^[\w-]{1,100}$/;

/**
 * Converts secrets to keys. A secret is `whsec_` and base64, as in Standard Webhooks, or any other text, whose UTF-8
 * bytes are the key. Throws `policy_invalid` without a secret, and for one of fewer than 16 bytes.
 */
export function signingKeys(secrets: readonly string[]): Webhook[] {
  if (secrets.length === 0)
    throw policyInvalid('A webhook needs a secret: without one, its requests cannot be authenticated.');
  return secrets.map((secret) => {
    if (keyBytes(secret) < leastBytes) {
      throw policyInvalid(
        `The secret of a webhook must have at least ${leastBytes} bytes, after 'whsec_' as base64: make one with openssl rand -base64 32.`,
      );
    }
    if (secret.startsWith('whsec_')) return new Webhook(secret);
    // The library reads each character of a text as one byte.
    return new Webhook(Buffer.from(secret, 'utf8').toString('latin1'), { format: 'raw' });
  });
}

/** Returns the headers that sign a body, now and with every key. `id`: the same for each attempt to send the body. */
export function sign(keys: readonly Webhook[], { id, body }: { id: string; body: string }): SignatureHeaders {
  const now = new Date();
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': keys.map((key) => key.sign(id, now, body)).join(' '),
  };
}

/** Returns the `webhook-id` if one of the keys has signed the body within five minutes; else throws `forbidden`. */
export function verify(
  keys: readonly Webhook[],
  headers: Readonly<Record<string, string | undefined>>,
  body: string,
): string {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': signature = '' } = headers;
  if (id === '' || timestamp === '' || signature === '') {
    throw forbidden('It has no webhook-id, webhook-timestamp and webhook-signature.');
  }
  if (!idShape.test(id) || !/^\d{1,12}$/.test(timestamp)) {
    throw forbidden('Its webhook-id or its webhook-timestamp is malformed.');
  }
  const given = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  let lastProblem = '';
  for (const key of keys) {
    try {
      key.verify(body, given, { jsonParse: false });
      return id;
    } catch (error) {
      lastProblem = error instanceof Error ? error.message : '';
    }
  }
  // Each key is refused for the same timestamp, so the last problem is enough.
  throw forbidden(
    lastProblem.includes('timestamp')
      ? 'Its webhook-timestamp is more than five minutes away from the clock here.'
      : 'No signature in it is made with the secret, over this id, timestamp and body.',
  );
}

function keyBytes(secret: string): number {
  if (!secret.startsWith('whsec_')) return Buffer.byteLength(secret);
  const text = secret.slice('whsec_'.length);
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0 ? Buffer.from(text, 'base64').length : 0;
}

function forbidden(why: string): ProblemError {
  return new ProblemError({ code: 'forbidden', message: `The message is not signed as it must be. ${why}` });
}

/** A signature for receivers that do not know Standard Webhooks. It has no timestamp, so a replay is not detected. */
export interface LegacySignature {
  /** The header with the signature, such as `X-Signature`. */
  header: string;
  /**
   * What is signed. `body`: the body. `id_and_tool`: what Python's `json.dumps({"request_id": …, "tool_name": …},
   * sort_keys=True)` returns.
   */
  over: 'body' | 'id_and_tool';
  /** Default: the first secret of the webhook, as it is written. */
  secret?: string;
}

/** Returns the HMAC-SHA256 in 64 hex characters. The key is the UTF-8 of the secret. */
export function legacySignature(
  { over }: Pick<LegacySignature, 'over'>,
  secret: string,
  { requestId, toolName, body }: { requestId: string; toolName: string; body: string },
): string {
  const signed =
    over === 'body' ? body : `{"request_id": ${pythonText(requestId)}, "tool_name": ${pythonText(toolName)}}`;
  return createHmac('sha256', secret).update(signed).digest('hex');
}

/** Returns the members that the body needs, so that the receiver can check a signature over `id_and_tool`. */
export function legacyMembers({ requestId, toolName }: { requestId: string; toolName: string }): {
  request_id: string;
  tool_name: string;
} {
  return { request_id: requestId, tool_name: toolName };
}

/** Writes a text as Python's `json.dumps` does: it escapes everything except printable ASCII. */
function pythonText(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
