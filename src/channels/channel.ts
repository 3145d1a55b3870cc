import type { ApprovalDetails, Decision, RequestedScope, Settlement } from '../contract.ts';
import type { Json, JsonObject } from '../core/base/tool-call.ts';
import type { Records } from '../client/server/records.ts';

/**
 * A way to reach reviewers, or to answer in their place. Each member is optional. Beside each run, a second workflow
 * calls the members as activities (docs/channels.md). So the run never waits for a channel, and a crash loses no call.
 * The first valid decision counts, from any source.
 */
export interface Channel {
  /** Called when a worker starts. If it throws, as for a missing optional package, the worker does not start. */
  check?(): void;
  /**
   * Checks the host, the credentials and the target, such as a chat channel, without sending a message. Throws an error
   * with one sentence that names what is wrong. A worker calls this after its start, and logs the error.
   */
  reach?(signal: AbortSignal): Promise<void>;
  /**
   * Sends a test message, for `countersign channels test`. Returns a phrase for the message and its receiver, such as
   * `a message to channel C0123456789`. Throws an error with one sentence that names what is wrong.
   */
  test?(context: TestContext): Promise<string>;
  /**
   * Sends people a message about an open request. Called when the request opens, for each reminder, warning and
   * escalation that concerns the channel, and when the user of the run writes. Returns JSON of at most 4,000 bytes, by
   * which the channel finds its message again. An error never decides the request. The call is retried while the
   * request is open, after pauses that grow to two minutes, or after the `nextRetryDelay` of an `ApplicationFailure`; a
   * non-retryable failure ends the attempts.
   */
  notify?(request: ChannelRequest, context: NotifyContext): Promise<Json | void> | Json | void;
  /**
   * True for a request that `resolve` answers without a person. Then `resolve` is called at once, also in quiet hours,
   * without `notify` and `settled`. If its answer does not settle the request, `notify` is called, and `resolve` again
   * with `refused` in its context. Default: false. An error counts as false.
   */
  isAutomatic?(request: ChannelRequest): boolean;
  /**
   * Answers a request. Called once `notify` has returned or failed permanently. `signal` aborts at the deadline, and
   * when the request is settled elsewhere. A waiting call occupies no activity slot, so Temporal's `Context` is not
   * available. If the channel is the request's only one, an error denies at once ("Approval handler error: TYPE"); with
   * `retries`, the call is retried until the deadline instead.
   */
  resolve?(
    request: ChannelRequest,
    signal: AbortSignal,
    context: ResolveContext,
  ): Promise<ChannelAnswer | boolean> | ChannelAnswer | boolean;
  /**
   * Notifies people on the channel how a request was settled, there or elsewhere. Also called after `notify` has
   * failed, without `sent`, because its message may have reached people. After an error the call is retried five times,
   * and then for seven days with pauses that grow to an hour. A non-retryable `ApplicationFailure` ends the attempts.
   * Returns JSON that replaces the result of `notify`, if any.
   */
  settled?(
    request: ChannelRequest,
    settlement: Settlement,
    context: SettledContext,
  ): Promise<Json | void> | Json | void;
  /** Notifies the caller that the run waits, and later of the outcome. Absent: the channel does not notify callers. */
  caller?: CallerNotices;
  /**
   * Converts an answer that was posted to the gateway for this channel to a decision, which the gateway sends to the
   * run. Throws a `ProblemError` (`forbidden`) for an answer that it cannot authenticate.
   */
  receive?(post: PostedAnswer): Promise<Decision> | Decision;
  /**
   * True: one call of `notify` is for all requests of a run that are due now, and one call of `settled` for all
   * requests of that message that were settled since the last call. Default: false.
   */
  readonly batch?: boolean;
  /** The steps for which `notify` sends messages. `policy check` warns of steps that no channel sends. Default: all. */
  readonly steps?: readonly ChannelStep['kind'][];
  /** True: `resolve` is called again after an error, and after the run has refused its answer. Default: false. */
  readonly retries?: boolean;
  /** How long a request stays open if this is its only channel, in milliseconds. Default: until its deadline. */
  readonly timeoutMs?: number;
}

/** How a channel notifies callers about the requests of their runs, by calls apart from those for reviewers. */
export interface CallerNotices {
  /** False for a caller that the channel cannot reach: it sends nothing. An error counts as false. Default: true. */
  knows?(request: ChannelRequest): boolean;
  /** Like `notify` of a channel, but called only when the request opens, with the step `asked`. */
  notify(request: ChannelRequest, context: NotifyContext): Promise<Json | void> | Json | void;
  /** Like `settled` of a channel. */
  settled(request: ChannelRequest, settlement: Settlement, context: SettledContext): Promise<Json | void> | Json | void;
}

/** A function that serves as a channel by itself: it is the channel's `resolve`. */
export type ChannelFunction = NonNullable<Channel['resolve']>;

/** A request as reviewers may see it: hidden and redacted values are absent. */
export type ChannelRequest = ApprovalDetails;

/** Why a channel is called. */
export interface ChannelStep {
  /** `user_wrote`: the user of the run has written since the request opened, and the card shows the messages. */
  kind: 'asked' | 'reminded' | 'warned' | 'escalated' | 'user_wrote';
  /** For `escalated`: the additional reviewers. */
  to?: readonly string[];
}

export const stepKinds = [
  'asked',
  'reminded',
  'warned',
  'escalated',
  'user_wrote',
] as const satisfies readonly ChannelStep['kind'][];

/** The context of `notify`. */
export interface NotifyContext {
  step: ChannelStep;
  /** An idempotency key: every attempt to send this message has the same, and no other message has it. */
  key: string;
  /** The number of this attempt. From 2 on, an earlier attempt has failed, and may have sent the message. */
  attempt: number;
  /** The requests of this call, including the first argument. Only a channel with `batch` gets more than one. */
  requests: readonly ChannelRequest[];
  /** What an earlier `notify` returned for this request, such as the id of a message. */
  sent?: Json;
  /** Stores data in the worker's namespace. Absent where no worker calls `notify`, as in a test of the channel. */
  records?: Records;
  signal: AbortSignal;
}

/** The context of `test`. */
export interface TestContext {
  /** An idempotency key, different for each test. */
  key: string;
  /** Opens the worker's stored data, for a channel that needs it. Throws if the server does not answer. */
  records: () => Promise<Records>;
  signal: AbortSignal;
}

/** The text of every test message. It makes clear that the message is not a request. */
export const testText = 'Test message of Countersign: this channel works. Nothing waits for an answer.';

/** The context of `resolve`, besides the request and its signal. */
export interface ResolveContext {
  attempt: number;
  /** The result of `notify` for the request. */
  sent?: Json;
  /**
   * Only with `retries`: why the run refused the channel's last answer, and that answer's digest. `code` is absent if
   * the answer counted, but the request needs further answers.
   */
  refused?: { code?: string; message: string; digest: string };
}

/** The context of `settled`, besides the request and its settlement. */
export interface SettledContext {
  key: string;
  attempt: number;
  /** True if no attempt follows before a pause, so that an error is recorded. Then the attempts begin again with 1. */
  isLastAttempt?: boolean;
  /** The result of `notify` for the request. Absent if it returned nothing, or failed. */
  sent?: Json;
  /** All requests of the channel's message in their present state, including the settled one. */
  requests: readonly ChannelRequest[];
  /** With `batch`, all requests that were settled since the last call, if there are others than the first argument. */
  settled?: readonly ChannelRequest[];
  /** Stores data in the worker's namespace. Absent where no worker calls `settled`, as in a test of the channel. */
  records?: Records;
  signal: AbortSignal;
}

/** An answer posted to `/channels/{channel}/answers/{requestId}` at the gateway, which has not verified any of it. */
export interface PostedAnswer {
  channel: string;
  requestId: string;
  /** The headers, with names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The body exactly as sent, because the sender's signature covers its bytes. */
  body: string;
}

/** A channel's answer to a request. `true` in its place approves, and `false` denies. */
export interface ChannelAnswer {
  approved: boolean;
  always?: boolean | RequestedScope;
  reason?: string;
  modifiedArguments?: JsonObject;
  response?: Json;
  /** The reviewer. Default: `channel:NAME`. It is unsigned, so the run records it as `claimed`. */
  reviewerId?: string;
  /** The digest of the shown call. The run refuses the answer if the call has changed since. */
  digest?: string;
  /** How many messages of the user were shown. The run refuses an approval if the user has written more since. */
  userMessages?: number;
}
