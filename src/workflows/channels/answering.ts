import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { ChannelCalls, ResolveCall } from '../../channels/activities/call-channel.ts';
import type { DecideForChannel } from '../../channels/activities/decide-for-channel.ts';
import type { LookedChannel } from '../../channels/activities/look-at-requests.ts';
import type { ChannelAnswer } from '../../channels/channel.ts';
import { activityNames, type Receipt } from '../../contract.ts';
import { jsonDigest } from '../../core/base/digest.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { type Messages, reasonOf } from './messages.ts';

const { [activityNames.channelDecide]: decide } = proxyActivities<{ [activityNames.channelDecide]: DecideForChannel }>({
  startToCloseTimeout: '60s',
  retry: { maximumInterval: '30s' },
});

/** A channel that is to answer a request. */
export interface Question {
  requestId: string;
  channel: LookedChannel;
  /** True: the request has no other channel. */
  isAlone: boolean;
  deadlineMs: number | null;
}

/** After these codes no other answer can count. */
const final: readonly (string | undefined)[] = [
  'already_settled',
  'expired',
  'run_closed',
  'run_not_found',
  'unknown_request',
];
const mostAnswers = 50;
const afterDeadlineMs = 5_000;
/** For a request without a deadline. */
const longestMs = 366 * 86_400_000;

/** The channels that answer. Each answer goes to the run as a decision; what counts is the run's business. */
export class Answering {
  readonly #workflowId: string;
  readonly #messages: Messages;
  /** Called when a request turns out to be settled. */
  readonly #onSettled: (requestId: string) => void;
  readonly #scopes = new Map<string, CancellationScope[]>();
  readonly #failures: { requestId: string; text: string }[] = [];
  #running = 0;

  constructor(workflowId: string, messages: Messages, onSettled: (requestId: string) => void) {
    this.#workflowId = workflowId;
    this.#messages = messages;
    this.#onSettled = onSettled;
  }

  get isIdle(): boolean {
    return this.#running === 0;
  }

  failures(requestId: string): string[] {
    return this.#failures.filter((each) => each.requestId === requestId).map(({ text }) => text);
  }

  begin(question: Question): void {
    const scope = new CancellationScope();
    const { requestId } = question;
    this.#scopes.set(requestId, [...(this.#scopes.get(requestId) ?? []), scope]);
    this.#running += 1;
    void scope
      .run(() => this.#answer(question))
      .catch((error: unknown) => {
        if (!isCancellation(error)) this.#note(requestId, `${question.channel.name}: ${reasonOf(error)}`);
      })
      .then(() => {
        this.#running -= 1;
      });
  }

  /** The request is settled: nobody needs to answer it any more. */
  stop(requestId: string): void {
    for (const scope of this.#scopes.get(requestId) ?? []) scope.cancel();
    this.#scopes.delete(requestId);
  }

  async #answer(question: Question): Promise<void> {
    const { requestId, channel, isAlone } = question;
    let refused: ResolveCall['refused'];
    // What `notify` returns finds the message that is answered.
    await condition(() => this.#messages.isTold(requestId, channel.name));
    for (let count = 1; count <= mostAnswers; count += 1) {
      const answer = await this.#resolve(question, refused);
      if (answer === 'interrupted') continue;
      if (answer === undefined) return;
      const receipt = await this.#decide(question, answer, `${count}`);
      // The run announces what this settles.
      if (receipt.accepted) return;
      if (final.includes(receipt.code)) return this.#onSettled(requestId);
      const { code = 'internal', message } = receipt;
      this.#note(requestId, `${channel.name}: ${code}: ${message}`);
      if (!channel.retries) {
        if (isAlone) await this.#deny(question, code);
        return;
      }
      refused = { code, message, digest: jsonDigest(answer as unknown as Json) };
    }
  }

  /** Undefined if the channel gives no answer. `interrupted`: its worker is gone, so another one asks again. */
  async #resolve(
    question: Question,
    refused: ResolveCall['refused'],
  ): Promise<ChannelAnswer | 'interrupted' | undefined> {
    const { requestId, channel, isAlone, deadlineMs } = question;
    const { name, retries } = channel;
    const sent = this.#messages.sentOf(requestId, name);
    const leftMs = deadlineMs === null ? longestMs : deadlineMs + afterDeadlineMs - Date.now();
    if (leftMs <= 0) return undefined;
    const { [activityNames.channelResolve]: resolve } = proxyActivities<{
      [activityNames.channelResolve]: ChannelCalls['resolve'];
    }>({
      scheduleToCloseTimeout: leftMs,
      heartbeatTimeout: '30s',
      retry: retries ? { maximumInterval: '30s' } : { maximumAttempts: 1 },
      summary: `${name} answers`,
    });
    try {
      return await resolve({ channel: name, workflowId: this.#workflowId, requestIds: [requestId], sent, refused });
    } catch (error) {
      if (isCancellation(error)) return undefined;
      const cause = error instanceof ActivityFailure ? error.cause : undefined;
      if (isInterrupted(cause)) return 'interrupted';
      this.#note(requestId, `${name}: ${reasonOf(error)}`);
      // Time that is over is no error of the channel.
      if (isAlone && cause instanceof ApplicationFailure) await this.#deny(question, cause.type ?? 'Error');
      return undefined;
    }
  }

  async #deny(question: Question, type: string): Promise<void> {
    await this.#decide(
      question,
      { approved: false, reason: `Approval handler error: ${type.slice(0, 100)}.` },
      'error',
    );
  }

  /** What was answered is sent also if the request is settled meanwhile: the run says who was first. */
  #decide({ requestId, channel }: Question, answer: ChannelAnswer, count: string): Promise<Receipt> {
    const decisionId = `channel:${channel.name}:${requestId}:${count}`;
    const decision = { channel: channel.name, workflowId: this.#workflowId, requestId, answer, decisionId };
    return CancellationScope.nonCancellable(() => decide.executeWithOptions({ summary: channel.name }, [decision]));
  }

  #note(requestId: string, text: string): void {
    this.#failures.push({ requestId, text });
    this.#failures.splice(0, this.#failures.length - 20);
  }
}

/** True if no fault of the channel ended its call: its worker was lost or shut down. */
function isInterrupted(cause: unknown): boolean {
  if (cause instanceof TimeoutFailure) return cause.timeoutType === 'HEARTBEAT';
  return cause instanceof ApplicationFailure && cause.type === 'WorkerShutdown';
}
