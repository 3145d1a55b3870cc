import { createHmac } from 'node:crypto';

/** A signature for receivers without Standard Webhooks. It has no timestamp, so it does not reveal a replay. */
export interface LegacySignature {
  /** The header that carries it, such as `X-Signature`. */
  header: string;
  /**
   * `body`: the signature covers the body. `id_and_tool`: it covers the text of Python's `json.dumps({"request_id": …,
   * "tool_name": …}, sort_keys=True)` for the request.
   */
  over: 'body' | 'id_and_tool';
  /** Default: the first secret of the webhook, as written. */
  secret?: string;
}

/** HMAC-SHA256 as 64 hex characters, under the UTF-8 of the secret. */
export function legacySignature(
  { over }: Pick<LegacySignature, 'over'>,
  secret: string,
  { requestId, toolName, body }: { requestId: string; toolName: string; body: string },
): string {
  const signed =
    over === 'body' ? body : `{"request_id": ${pythonText(requestId)}, "tool_name": ${pythonText(toolName)}}`;
  return createHmac('sha256', secret).update(signed).digest('hex');
}

/** The members that receivers of this signature verify, and that name the request. */
export function legacyMembers({ requestId, toolName }: { requestId: string; toolName: string }): {
  request_id: string;
  tool_name: string;
} {
  return { request_id: requestId, tool_name: toolName };
}

/** A text as Python's `json.dumps` writes it: all except printable ASCII is escaped. */
function pythonText(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
