import type { Decision } from '../contract.ts';
import type { ChannelAnswer } from './channel.ts';

/** An answer of a channel as members of the decision that it becomes, which says what `channel` showed. */
export function answerDecision(
  { userMessages, ...answer }: ChannelAnswer,
  channel?: string,
): Omit<Decision, 'requestId'> {
  const viewed = {
    ...(channel !== undefined && { channel: channel.slice(0, 40) }),
    ...(userMessages !== undefined && { userMessages }),
  };
  return { ...answer, ...(Object.keys(viewed).length > 0 && { viewed }) };
}
