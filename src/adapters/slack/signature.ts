import { createHmac, timingSafeEqual } from 'node:crypto';

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
