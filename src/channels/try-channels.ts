import { randomUUID } from 'node:crypto';
import { aborted } from '../text/aborted.ts';
import type { Records } from '../client/server/records.ts';
import type { Channel } from './channel.ts';
import type { ChannelSet } from './channel-set.ts';
import { errorText } from './outgoing/not-taken.ts';

export interface TestedChannel {
  channel: string;
  ok: boolean;
  /** One sentence about what was sent, or about the problem and its remedy. */
  message: string;
}

const reachMs = 30_000;
const testMs = 60_000;

/** Sends a test message through a channel, and reports whether that worked. Never rejects. */
export async function testChannel(
  [name, channel]: [string, Channel],
  records: () => Promise<Records>,
): Promise<TestedChannel> {
  if (channel.test === undefined) {
    const what = channel.notify === undefined ? 'sends no messages' : 'has no test message';
    return { channel: name, ok: true, message: `It ${what}, so nothing was sent.` };
  }
  try {
    const sent = await channel.test({ key: `test:${randomUUID()}`, records, signal: AbortSignal.timeout(testMs) });
    return { channel: name, ok: true, message: `Sent ${sent}.` };
  } catch (error) {
    return { channel: name, ok: false, message: errorSentence(error) };
  }
}

/** Calls `reach` of each channel, and `warn` with a sentence for each that fails. Sends no message, never rejects. */
export async function warnOfUnreached(
  set: ChannelSet | undefined,
  signal: AbortSignal,
  warn: (sentence: string) => void,
): Promise<void> {
  const limit = AbortSignal.timeout(reachMs);
  const limited = AbortSignal.any([signal, limit]);
  const reached = [...(set?.channels ?? [])].map(async ([name, channel]) => {
    try {
      await Promise.race([channel.reach?.(limited), aborted(limited)]);
    } catch (error) {
      const why = limit.aborted ? `it did not answer within ${reachMs / 1_000} seconds.` : errorSentence(error);
      if (!signal.aborted) warn(`channel '${name}' cannot be reached: ${why}`);
    }
  });
  await Promise.all(reached);
}

function errorSentence(error: unknown): string {
  const message = errorText(error).trim();
  return /[.!?]$/.test(message) ? message : `${message}.`;
}
