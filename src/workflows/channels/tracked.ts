import type { RequestFacts } from '../../channels/activities/look-at-requests.ts';
import type { ResolveCall } from '../../channels/activities/call-channel.ts';

/** An open request, and what its channels were told of it. Carried through continue-as-new. */
export interface Tracked {
  requestId: string;
  deadlineMs: number | null;
  /** Absent: an older version read it. */
  facts?: RequestFacts;
  /** The channels of the request, as last read from the run. */
  channels: string[];
  /** The channels that were told of it. */
  asked: string[];
  /** The channels that are called to answer, or have answered. */
  begun: string[];
  /** How many answers were sent to the run. */
  answers: number;
  /** How many of them the run was not asked about, or could not check. Absent: none. */
  unchecked?: number;
  /** The keys of the steps that were taken. */
  steps: string[];
  /** How many messages of the user the channels were told of. Absent: none. */
  userMessages?: number;
  /** By channel: why the run did not take its last answer, for the next call. */
  refused?: Record<string, ResolveCall['refused']>;
}
