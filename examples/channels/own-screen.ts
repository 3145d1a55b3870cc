/**
 * A program with a screen of its own, such as an editor: the channel hands each request to the screen and waits. What cannot be
 * undone is asked about; the rest is approved by the channel, so that nobody is bothered. Without a terminal there is no screen:
 * the policy is then headless, which denies what would ask, instead of a channel that nobody sees.
 *
 *   countersign worker examples/channels/own-screen.ts
 *   countersign run shop --input 'My lamp came broken'
 *
 */
import { createInterface } from 'node:readline/promises';
import type { Channel, ChannelAnswer, ChannelRequest } from 'countersign/channels';
import { policy, shop } from './shop.ts';

/** What the screen gets: a request, and the way to answer it. */
export interface Waiting {
  request: ChannelRequest;
  /** Aborts when the request needs no answer any more. */
  signal: AbortSignal;
  answer: (answer: ChannelAnswer) => void;
}

/** A screen that goes away must not decide: the request stays open, and its deadline denies it. */
export function screenChannel(show: (waiting: Waiting) => void): Channel {
  return {
    resolve: (request, signal) => {
      if (request.assessment.reversible) return { approved: true, reason: 'It can be undone.' };
      return new Promise((answer, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        show({ request, signal, answer });
      });
    },
  };
}

async function showOnTerminal({ request, signal, answer }: Waiting): Promise<void> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const question = `${request.toolName} ${JSON.stringify(request.arguments)}: allow it? (yes/no) `;
    const line = await lines.question(question, { signal });
    answer({ approved: line.trim() === 'yes' });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    lines.close();
  }
}

const isAttended = process.stdin.isTTY;
const channels: Record<string, Channel> = isAttended
  ? { screen: screenChannel((waiting) => void showOnTerminal(waiting)) }
  : {};

export default { agents: [shop], policy: isAttended ? policy : { ...policy, mode: 'headless' }, channels };
