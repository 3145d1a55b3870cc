import type { ChannelAnswer, ChannelRequest } from './channel.ts';

/** Ties an answer to the request as it was shown: the run refuses it for another call, and if the user has written since. */
export function whatWasShown({
  digest,
  userMessages,
}: Pick<ChannelRequest, 'digest' | 'userMessages'>): Required<Pick<ChannelAnswer, 'digest' | 'userMessages'>> {
  return { digest, userMessages: userMessages?.count ?? 0 };
}
