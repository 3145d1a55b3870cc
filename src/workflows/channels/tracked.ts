import type { RequestFacts } from '../../channels/activities/look-at-requests.ts';
import type { ResolveCall } from '../../channels/activities/call-channel.ts';
import type { Json } from '../../core/base/tool-call.ts';

/** An open request, and what was sent to its channels. Carried through continue-as-new. */
export interface Tracked {
  requestId: string;
  deadlineMs: number | null;
  /** What channels show of the request. Absent until it is read from the run. */
  facts?: RequestFacts;
  /** The channels of the request, as last read from the run. */
  channels: string[];
  /** The channels to which the request was sent, or is to be sent. */
  asked: string[];
  /** The channels that are called to answer, or have answered. */
  begun: string[];
  answers: number;
  /** How many of the `answers` did not reach the run, or could not be checked there. Absent: none. */
  unchecked?: number;
  steps: string[];
  /** How many messages of the user were reported to the channels. Absent: none. */
  userMessages?: number;
  /** The reasons why the run refused the last answers, by channel. The next call of the channel gets the reason. */
  refused?: Record<string, ResolveCall['refused']>;
}

/** A message of a channel, which may be about several requests of the run. */
export interface ChannelMessage {
  channel: string;
  requestIds: string[];
  sent?: Json;
  /** True once a call of `notify` has returned. A call that failed may have reached people, too. */
  isSent: boolean;
  /** True once the request has reached all people of the channel, or its message was refused for good. */
  isOver: boolean;
  /** True if the channel is to be notified of settlements. */
  settles: boolean;
  /** The known facts of requests that the run no longer has, by request id. Absent: the run has all requests. */
  gone?: Record<string, RequestFacts>;
  /** Workflow time at which the message is sent. Until then it collects requests; absent afterwards. */
  dueMs?: number;
  /** How many calls that carry the request itself failed. Some of them may have reached people. */
  interrupted?: number;
}
