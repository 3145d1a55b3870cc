import { exchange, refusedStatus } from '../../channels/outgoing/exchange.ts';
import { isProblemError } from '../../core/base/problem.ts';
import type { Delivery, PushMessage } from './push-message.ts';
import type { Subscription } from './subscriptions.ts';
import type { WebPushSettings } from './web-push-settings.ts';

/** The push service does not know the subscription any more. */
const goneStatuses = [404, 410];

/**
 * Sends one message, encrypted for the browser and signed with the push keys. `gone`: the subscription has ended.
 * Throws a `ProblemError` if another attempt may help; errors name the origin of the push service only.
 */
export async function sendMessage(
  { subject, publicKey, privateKey, agents, requestTimeoutMs }: WebPushSettings,
  { endpoint, keys }: Subscription,
  { message, ttl, urgency, topic }: Delivery & { message: PushMessage },
  signal: AbortSignal,
): Promise<'taken' | 'gone'> {
  const { default: webPush } = await import('web-push');
  const url = new URL(endpoint);
  // The gateway keeps no other, and whoever can seal a subscription could send by themselves.
  if (url.protocol !== 'https:') return 'gone';
  const { headers, body } = webPush.generateRequestDetails({ endpoint, keys }, JSON.stringify(message), {
    vapidDetails: { subject, publicKey, privateKey },
    contentEncoding: 'aes128gcm',
    TTL: ttl,
    urgency,
    topic,
  });
  const outgoing = { method: 'POST', url, headers: withoutLength(headers), body, signal };
  const answer = await exchange(outgoing, agents, requestTimeoutMs).catch((error: unknown) => {
    // An address that no channel may reach: nothing was sent.
    if (isProblemError(error) && error.code === 'forbidden') return undefined;
    throw error;
  });
  if (answer === undefined || goneStatuses.includes(answer.status)) return 'gone';
  if (answer.status >= 200 && answer.status < 300) return 'taken';
  throw refusedStatus(url, answer);
}

/** `exchange` counts the bytes itself. */
function withoutLength(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-length');
  return Object.fromEntries(kept.map(([name, value]) => [name.toLowerCase(), String(value)]));
}
