import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  sleep,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { ChannelCalls, ResolveCall } from '../../channels/activities/call-channel.ts';
import type { DecideForChannel } from '../../channels/activities/channel-activities.ts';
import type { LookedChannel } from '../../channels/activities/look-at-requests.ts';
import type { ChannelAnswer } from '../../channels/channel.ts';
import { activityNames, type Receipt } from '../../contract.ts';
import { jsonDigest } from '../../core/base/digest.ts';
import { isObject } from '../../core/base/json.ts';
import { isProblemCode, type ProblemCode } from '../../core/base/problem.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { clock } from '../sandbox/clock.ts';
import { Backoff } from '../timing/backoff.ts';
import { Failures, failureReason, isFinal } from './failures.ts';
import type { ChannelMessages } from './messages.ts';
import type { Tracked } from './tracked.ts';

const { [activityNames.channelDecide]: decide } = proxyActivities<{ [activityNames.channelDecide]: DecideForChannel }>({
  startToCloseTimeout: '60s',
  retry: { maximumInterval: '30s' },
});

interface Question {
  request: Tracked;
  channel: LookedChannel;
}

type Refused = ResolveCall['refused'];

/**
 * What the code of a receipt means for an answer. `refused`: the run has refused it. `unchecked`: it did not reach the
 * run, or the run could not check it. `over`: the request seems to be settled, so its state is read from the run.
 */
const meanings = {
  unknown_request: 'over',
  already_settled: 'refused',
  expired: 'over',
  run_closed: 'over',
  invalid_decision: 'refused',
  invalid_message: 'refused',
  undecodable: 'unchecked',
  digest_mismatch: 'refused',
  request_changed: 'refused',
  arguments_invalid: 'refused',
  denied_by_policy: 'refused',
  not_entitled: 'refused',
  self_approval: 'refused',
  unverified_reviewer: 'refused',
  run_not_found: 'over',
  agent_unknown: 'unchecked',
  policy_invalid: 'unchecked',
  not_permitted_by_ceiling: 'refused',
  grant_unknown: 'unchecked',
  already_started: 'unchecked',
  unauthenticated: 'unchecked',
  forbidden: 'unchecked',
  too_large: 'refused',
  rate_limited: 'unchecked',
  server_unreachable: 'unchecked',
  no_worker: 'unchecked',
  model_refused: 'unchecked',
  model_rate_limited: 'unchecked',
  model_unavailable: 'unchecked',
  model_output_invalid: 'unchecked',
  input_refused: 'unchecked',
  check_failed: 'unchecked',
  internal: 'unchecked',
} as const satisfies Record<ProblemCode, 'over' | 'refused' | 'unchecked'>;

const mostAnswers = 50;
/** How long after the deadline an answer may still come. */
const afterDeadlineMs = 5_000;
/** The time-out of a call for a request without a deadline: a year. */
const longestMs = 366 * 86_400_000;

/** Asks the channels that answer, and sends each answer to the run as a decision. The run decides whether it counts. */
export class Answering {
  readonly #workflowId: string;
  readonly #messages: ChannelMessages;
  /** Makes the workflow read a request from the run again, because it may be settled or extended. */
  readonly #lookAt: (requestId: string) => void;
  readonly #running = new Map<CancellationScope, Question>();
  readonly #failures = new Failures();
  #sending = 0;

  constructor(workflowId: string, messages: ChannelMessages, lookAt: (requestId: string) => void) {
    this.#workflowId = workflowId;
    this.#messages = messages;
    this.#lookAt = lookAt;
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** True while no answer is being sent to the run. Calls of channels may be in flight. */
  get isQuiet(): boolean {
    return this.#sending === 0;
  }

  failures(requestId: string): string[] {
    return this.#failures.of(requestId);
  }

  /** Asks a channel, unless it was asked already or the time for answers is over. */
  begin(request: Tracked, channel: LookedChannel): void {
    const { requestId, begun } = request;
    if (begun.includes(channel.name) || leftMs(request) <= 0) return;
    begun.push(channel.name);
    const scope = new CancellationScope();
    const question = { request, channel };
    this.#running.set(scope, question);
    void scope
      .run(() => this.#answer(question))
      .catch((error: unknown) => {
        if (!isCancellation(error)) this.#failures.note(requestId, `${channel.name}: ${failureReason(error)}`);
      })
      .then(() => this.#running.delete(scope));
  }

  /** Cancels the calls of channels whose answers are not needed any more. */
  stop({ requestId }: Tracked, channels: readonly string[]): void {
    for (const [scope, { request, channel }] of this.#running) {
      if (request.requestId === requestId && channels.includes(channel.name)) scope.cancel();
    }
  }

  /** Stops the calls for continue-as-new; the next execution makes them again. Call it while `isQuiet` is true. */
  interrupt(): void {
    for (const [scope, { request, channel }] of this.#running) {
      request.begun = request.begun.filter((name) => name !== channel.name);
      scope.cancel();
    }
  }

  /** Calls the channel until its answer settles the request, the request is over, or no further answer may count. */
  async #answer(question: Question): Promise<void> {
    const { request, channel } = question;
    const { requestId } = request;
    const backoff = new Backoff();
    // Wait for `notify`, because `resolve` receives what `notify` returned.
    await condition(() => this.#messages.isNotified(requestId, channel.name));
    while (checked(request) < mostAnswers) {
      const refused = request.refused?.[channel.name];
      const calledMs = clock.nowMs;
      const answer = await this.#resolve(question, refused);
      if (answer === undefined) return;
      if (answer === 'again') {
        await sleep(backoff.next(clock.nowMs - calledMs));
        continue;
      }
      backoff.reset();
      const receipt = await this.#send(question, answer);
      // If the answer has settled the request, the run announces that itself.
      if (receipt.accepted && receipt.outcome !== undefined) return;
      const { code, message } = receipt;
      if (meaningOf(code) === 'over' || receipt.outcome !== undefined) return this.#lookAgain(question);
      // The user has written since the request was shown, so the channel is asked again.
      const isOutdated = code === 'request_changed';
      if (!receipt.accepted && !isOutdated)
        this.#failures.note(requestId, `${channel.name}: ${code ?? 'internal'}: ${message}`);
      if (channel.isAutomatic && refused === undefined) await this.#askPeople(question);
      else if (!channel.retries && !isOutdated) {
        if (!receipt.accepted) await this.#denyAlone(question, code ?? 'internal');
        return;
      }
      // The next `resolve` gets the digest, so that the channel knows which answer did not settle the request.
      const digest = jsonDigest(answer as unknown as Json);
      request.refused = {
        ...request.refused,
        [channel.name]: { ...(code !== undefined && { code }), message, digest },
      };
    }
  }

  /** An automatic answer settled nothing, so the channel asks people after all. */
  async #askPeople({ request: { requestId }, channel }: Question): Promise<void> {
    if (!channel.notifies) return;
    this.#messages.ask(requestId, channel);
    this.#messages.send();
    await condition(() => this.#messages.isNotified(requestId, channel.name));
  }

  /** Returns the answer of a channel. Undefined if there is none; `again` if the channel must be asked once more. */
  async #resolve({ request, channel }: Question, refused: Refused): Promise<ChannelAnswer | 'again' | undefined> {
    const { requestId } = request;
    const { name, retries } = channel;
    const sent = this.#messages.sentOf(requestId, name);
    const timeoutMs = leftMs(request);
    if (timeoutMs <= 0) return this.#lookAgain({ request, channel });
    const { [activityNames.channelResolve]: resolve } = proxyActivities<{
      [activityNames.channelResolve]: ChannelCalls['resolve'];
    }>({
      scheduleToCloseTimeout: timeoutMs,
      heartbeatTimeout: '30s',
      retry: retries ? { maximumInterval: '30s' } : { maximumAttempts: 1 },
      summary: `${name} answers`,
    });
    try {
      const call = { channel: name, workflowId: this.#workflowId, requestIds: [requestId], sent, refused };
      const answer: unknown = await resolve(call);
      // Another value is no answer: this worker cannot decode it, or an operator has completed the activity.
      const isAnswer = isObject(answer) && !isUndecodable(answer);
      return isAnswer ? (answer as unknown as ChannelAnswer) : 'again';
    } catch (error) {
      if (isCancellation(error)) return undefined;
      const cause = error instanceof ActivityFailure ? error.cause : undefined;
      if (isInterrupted(cause)) return 'again';
      // The deadline of the request has passed, which is not an error of the channel.
      if (cause instanceof TimeoutFailure) return this.#lookAgain({ request, channel });
      this.#failures.note(requestId, `${name}: ${failureReason(error)}`);
      if (!isFinal(error)) return 'again';
      if (cause instanceof ApplicationFailure) await this.#denyAlone({ request, channel }, cause.type ?? 'Error');
      return undefined;
    }
  }

  /** Makes the workflow read the request from the run again, and ask the channel again if it was extended. */
  #lookAgain({ request, channel }: Question): undefined {
    request.begun = request.begun.filter((name) => name !== channel.name);
    this.#lookAt(request.requestId);
    return undefined;
  }

  /** Denies a request whose only channel failed with this type. Sends the denial until the run has checked it. */
  async #denyAlone(question: Question, type: string): Promise<void> {
    const { request } = question;
    const denial = { approved: false, reason: `Approval handler error: ${type.slice(0, 100)}.` };
    this.#sending += 1;
    try {
      for (const backoff = new Backoff(); request.channels.length <= 1; await sleep(backoff.next())) {
        if (isChecked(await this.#decide(question, denial, 'error'))) return;
      }
    } finally {
      this.#sending -= 1;
    }
  }

  /** Sends an answer. Meanwhile `isQuiet` is false, so that continue-as-new does not lose the answer. */
  async #send(question: Question, answer: ChannelAnswer): Promise<Receipt> {
    this.#sending += 1;
    try {
      return await this.#sendUntilChecked(question, answer);
    } finally {
      this.#sending -= 1;
    }
  }

  /** Sends an answer until the run has checked it. Each repetition is a decision with an id of its own. */
  async #sendUntilChecked(question: Question, answer: ChannelAnswer): Promise<Receipt> {
    const { request } = question;
    for (const backoff = new Backoff(); ; await sleep(backoff.next())) {
      request.answers += 1;
      const receipt = await this.#decide(question, answer, `${request.answers}`);
      if (isChecked(receipt)) return receipt;
      request.unchecked = (request.unchecked ?? 0) + 1;
    }
  }

  /** Sends an answer, even if the request is settled meanwhile: the run decides. `count` makes the id unique. */
  async #decide({ request, channel }: Question, answer: ChannelAnswer, count: string): Promise<Receipt> {
    const { requestId } = request;
    const decisionId = `channel:${channel.name}:${requestId}:${count}`;
    const decision = { channel: channel.name, workflowId: this.#workflowId, requestId, answer, decisionId };
    for (const backoff = new Backoff(); ; await sleep(backoff.next())) {
      try {
        return await CancellationScope.nonCancellable(() =>
          decide.executeWithOptions({ summary: channel.name }, [decision]),
        );
      } catch (error) {
        if (isFinal(error)) throw error;
        this.#failures.note(requestId, `${channel.name}: ${failureReason(error)}`);
      }
    }
  }
}

function checked({ answers, unchecked = 0 }: Tracked): number {
  return answers - unchecked;
}

function isChecked({ accepted, code, outcome }: Receipt): boolean {
  return accepted || outcome !== undefined || meaningOf(code) !== 'unchecked';
}

/** Returns what a code means; `unchecked` for a code that only a newer version knows. */
function meaningOf(code: ProblemCode | undefined): (typeof meanings)[ProblemCode] {
  return isProblemCode(code) ? meanings[code] : 'unchecked';
}

/** Returns the time left for an answer. It ends after the deadline, so that the run itself refuses a late answer. */
function leftMs({ deadlineMs }: Tracked): number {
  return deadlineMs === null ? longestMs : deadlineMs + afterDeadlineMs - clock.nowMs;
}

/** True if a call ended through no fault of its channel: it was not called, or its worker was lost or shut down. */
function isInterrupted(cause: unknown): boolean {
  if (cause instanceof TimeoutFailure) return cause.timeoutType === 'HEARTBEAT';
  return cause instanceof ApplicationFailure && (cause.type === 'WorkerShutdown' || cause.type === 'NotCalled');
}
