import type { z } from 'zod';
import type { Channel } from './channel.ts';

/** A kind of channel that a channel file (docs/channels.md) can name. */
export interface ChannelKind<Members = unknown> {
  /** The members of its entry in the file, without `kind`: snake_case, durations such as `30s`. */
  shape: z.ZodType<Members>;
  /** The members that name other entries of the file. */
  refersTo?: readonly string[];
  make(members: Members, context: ChannelContext): Channel | Promise<Channel>;
}

/** What a kind may ask for while it makes a channel of a file. */
export interface ChannelContext {
  /** The name of the entry. */
  name: string;
  /** Another entry of the file, by name. Throws `policy_invalid` if there is none. */
  channel(name: string): Promise<Channel>;
}
