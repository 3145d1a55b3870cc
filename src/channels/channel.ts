import type { ApprovalDetails, Decision, RequestedScope, Settlement } from '../contract.ts';
import type { Json, JsonObject } from '../core/base/tool-call.ts';
import type { Records } from '../client/server/records.ts';

/**
 * A way to reach reviewers, or to answer in their place. Each member is optional. A workflow beside the run calls the
 * members as activities of the run's worker (docs/channels.md), so the run itself never waits for a channel, and the
 * calls survive crashes. The first valid decision counts, from any source.
 */
export interface Channel {
  /** Called when a worker starts. If it throws, such as for a missing optional package, the worker does not start. */
  check?(): void;
  /**
   * Checks host, credentials and place, without sending anything. Throws an error with one sentence that names the
   * missing part. A worker calls this after its start, and logs the error.
   */
  reach?(signal: AbortSignal): Promise<void>;
  /**
   * Sends a test message, for `countersign channels test`. Returns words for the message and its receiver, such as `a
   * message to channel C0123456789`. Throws an error with one sentence that names the missing part.
   */
  test?(context: TestContext): Promise<string>;
  /**
   * Carries an open request to people: once when it opens, and once for each reminder, warning and escalation that
   * concerns the channel, and each time the user of the run writes. Returns JSON that finds the message again, of at
   * most 4,000 bytes. After an error it is retried while the request is open, with pauses that grow to two minutes, or
   * after the `nextRetryDelay` of an `ApplicationFailure`; a non-retryable one ends the attempts. An error never
   * decides.
   */
  notify?(request: ChannelRequest, context: NotifyContext): Promise<Json | void> | Json | void;
  /**
   * True for a request that `resolve` answers without a person: it is answered at once, also in quiet hours, and
   * `notify` and `settled` are not called for it. If that answer settles nothing, `notify` is called and `resolve` once
   * more, with `refused`. Default: false for all. An error counts as false.
   */
  isAutomatic?(request: ChannelRequest): boolean;
  /**
   * Answers a request, once `notify` has returned or failed permanently. `signal` aborts when the request is settled
   * elsewhere, and at its deadline. A waiting call holds no activity slot and cannot heartbeat: use `signal`, not
   * Temporal's `Context`. An error denies at once ("Approval handler error: TYPE") if the request has no other channel;
   * with `retries`, the call is retried until the deadline instead.
   */
  resolve?(
    request: ChannelRequest,
    signal: AbortSignal,
    context: ResolveContext,
  ): Promise<ChannelAnswer | boolean> | ChannelAnswer | boolean;
  /**
   * Notifies people on the channel how a request was settled, there or elsewhere. Called even if `notify` failed,
   * because its message may have reached people; then `sent` is absent. An error is retried: five times in a row, and
   * then after growing waits of up to an hour, for seven days. A non-retryable `ApplicationFailure` ends the attempts.
   * Returns JSON that replaces the result of `notify`, if any.
   */
  settled?(
    request: ChannelRequest,
    settlement: Settlement,
    context: SettledContext,
  ): Promise<Json | void> | Json | void;
  /** How the channel notifies the caller that the run waits, and of the outcome. Absent: it does not notify callers. */
  caller?: CallerNotices;
  /**
   * Reads an answer that was posted to the gateway for this channel, and returns the decision to send to the run.
   * Throws a `ProblemError` (`forbidden`) for an answer that it cannot authenticate as its receiver's.
   */
  receive?(post: PostedAnswer): Promise<Decision> | Decision;
  /**
   * True: one call of `notify` carries all requests of a run that are due now, and one call of `settled` all requests
   * of that message that were settled since the last call. Default false.
   */
  readonly batch?: boolean;
  /**
   * The steps for which `notify` sends a message. `policy check` warns of steps that no channel sends. Default: all.
   */
  readonly steps?: readonly ChannelStep['kind'][];
  /** True: `resolve` may be called again after an error, and after a refused answer. Default false. */
  readonly retries?: boolean;
  /** The longest time in milliseconds that a request without another channel stays open. Default: its deadline. */
  readonly timeoutMs?: number;
}

/**
 * A channel's notices to callers about its requests. They are separate messages, and fail separately from those to
 * reviewers.
 */
export interface CallerNotices {
  /** False for a caller that the channel does not know: nothing is sent. An error counts as false. Default: true. */
  knows?(request: ChannelRequest): boolean;
  /** Works as `notify` of a channel, but is called only once, when the request opens. `step` is `asked`. */
  notify(request: ChannelRequest, context: NotifyContext): Promise<Json | void> | Json | void;
  /** Works as `settled` of a channel. */
  settled(request: ChannelRequest, settlement: Settlement, context: SettledContext): Promise<Json | void> | Json | void;
}

/** Any function that answers is a channel. */
export type ChannelFunction = NonNullable<Channel['resolve']>;

/** A request as its reviewers may see it: the values that are hidden from them, or redacted, are so here too. */
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
  /** An idempotency key: the same for each attempt to send this message, and different for every other message. */
  key: string;
  /**
   * The number of this attempt, from 1. Before a later one, an earlier one failed or lost its worker, and may have sent
   * the message.
   */
  attempt: number;
  /** The requests of this call, the first one included. Only a channel with `batch` gets more than one. */
  requests: readonly ChannelRequest[];
  /** The earlier result of `notify` for this request, such as the id of a message. */
  sent?: Json;
  /** Stores data in the worker's namespace. Absent where no worker calls `notify`, as in a test of the channel. */
  records?: Records;
  signal: AbortSignal;
}

/** The context of `test`. */
export interface TestContext {
  /** An idempotency key: a new one for each test. */
  key: string;
  /** Opens the records of the namespace, for channels that store some. Throws if the server does not answer. */
  records: () => Promise<Records>;
  signal: AbortSignal;
}

/** The text of every test message. It must be clear that it is no request. */
export const testText = 'Test message of Countersign: this channel works. Nothing waits for an answer.';

/** The context of `resolve`, besides the request and its signal. */
export interface ResolveContext {
  attempt: number;
  /** The result of `notify` for the request. */
  sent?: Json;
  /**
   * For channels with `retries`: why the run refused the channel's last answer, and the digest of that answer. `code`
   * is absent if the answer counted, but the request needs further answers.
   */
  refused?: { code?: string; message: string; digest: string };
}

/** The context of `settled`, besides the request and its settlement. */
export interface SettledContext {
  key: string;
  attempt: number;
  /** True: if this attempt fails, its error is recorded, and after a wait the attempts begin again with 1. */
  isLastAttempt?: boolean;
  /** The result of `notify` for the request. Absent if it returned nothing, or failed. */
  sent?: Json;
  /** All requests of the same message in their present state, the settled one included. */
  requests: readonly ChannelRequest[];
  /**
   * The requests that were settled since the last call, with the one in the first argument. Absent: that one alone, as
   * for every channel without `batch`.
   */
  settled?: readonly ChannelRequest[];
  /** Stores data in the worker's namespace. Absent where no worker calls `settled`, as in a test of the channel. */
  records?: Records;
  signal: AbortSignal;
}

/** The body of `POST /channels/{channel}/answers/{requestId}` at the gateway, which trusts none of it. */
export interface PostedAnswer {
  channel: string;
  requestId: string;
  /** The headers, by their names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The body, exactly as sent: a signature of the sender covers it. */
  body: string;
}

/** A decision without the members that are added for the channel. `true` alone approves, and `false` alone denies. */
export interface ChannelAnswer {
  approved: boolean;
  always?: boolean | RequestedScope;
  reason?: string;
  modifiedArguments?: JsonObject;
  response?: Json;
  /** The reviewer. Default: `channel:NAME`. It is unsigned, so the run records it as `claimed`. */
  reviewerId?: string;
  /** The digest of the shown call. The run refuses the answer if the request is about another call now. */
  digest?: string;
  /** The number of shown messages of the user. The run refuses an approval if there are more by now. */
  userMessages?: number;
}
