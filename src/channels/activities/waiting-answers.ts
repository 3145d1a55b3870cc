import { setTimeout as sleep } from 'node:timers/promises';
import type { AsyncCompletionClient } from '@temporalio/client';
import { ActivityCancelledError, ActivityCompletionError, ActivityNotFoundError } from '@temporalio/client';
import { CompleteAsyncError, Context, getClient } from '@temporalio/activity';
import { aborted } from '../../text/aborted.ts';
import type { ChannelAnswer } from '../channel.ts';
import { failureOf, ofChannel, workerShutDown } from './call-failures.ts';

/** How long a call occupies its activity slot before it completes asynchronously, in milliseconds. */
const quickMs = 100;
/** The shortest and the longest time between two heartbeats, in milliseconds. It grows while a call waits. */
const [firstBeatMs, longestBeatMs] = [1_000, 10_000];
const waitedPerBeat = 20;

type Resolve = (signal: AbortSignal) => Promise<ChannelAnswer> | ChannelAnswer;

interface Waiting {
  taskToken: Uint8Array;
  server: AsyncCompletionClient;
  answer: Promise<ChannelAnswer>;
  stop: AbortController;
}

/** The calls of `resolve` that wait without an activity slot, and complete their activities later (decision 55). */
export class WaitingAnswers {
  readonly #waiting = new Map<string, { stop: AbortController; over: Promise<void> }>();

  /**
   * Returns the answer if it comes within `quickMs`. Otherwise throws `CompleteAsyncError`, which frees the slot, and
   * completes the activity later. A later call with the same `key` stops this one.
   */
  async answer(key: string, resolve: Resolve): Promise<ChannelAnswer> {
    const { cancellationSignal, info } = Context.current();
    const stop = new AbortController();
    const signal = AbortSignal.any([cancellationSignal, stop.signal]);
    // Also wait for the signal, because the channel's function may ignore it.
    const answer = Promise.race([ofChannel(() => resolve(signal)), aborted(signal)]);
    const isOver = answer.then(
      () => true,
      () => true,
    );
    if (await Promise.race([isOver, sleep(quickMs, false)])) return answer;
    // With this reason, the earlier call reports nothing, because the server does not wait for its attempt.
    this.#waiting.get(key)?.stop.abort(new ActivityNotFoundError('asked again'));
    const over = report({ taskToken: info.taskToken, server: getClient().activity, answer, stop });
    const entry = { stop, over };
    this.#waiting.set(key, entry);
    void over.then(() => {
      if (this.#waiting.get(key) === entry) this.#waiting.delete(key);
    });
    throw new CompleteAsyncError();
  }

  /** Stops all waiting calls when the worker stops. Temporal retries them on the next worker. */
  async stop(): Promise<void> {
    const all = [...this.#waiting.values()];
    for (const { stop } of all) stop.abort(workerShutDown());
    await Promise.all(all.map(({ over }) => over));
  }
}

/** Completes the activity with the answer. Never rejects: if that fails, the server retries the activity. */
async function report({ taskToken, server, answer, stop }: Waiting): Promise<void> {
  const isAnswered = new AbortController();
  void heartbeatUntil(server, taskToken, stop, isAnswered.signal);
  try {
    const value = await answer.finally(() => isAnswered.abort());
    await server.complete(taskToken, value).catch(() => undefined);
  } catch (error) {
    const failed = stop.signal.aborted ? stop.signal : error;
    await reportFailure(server, taskToken, failed).catch(() => undefined);
  }
}

/** Reports an error of the call. If `failed` is the signal that stopped the call, its reason decides what to report. */
async function reportFailure(server: AsyncCompletionClient, taskToken: Uint8Array, failed: unknown): Promise<void> {
  if (!(failed instanceof AbortSignal)) return server.fail(taskToken, failureOf(failed));
  const { reason } = failed;
  // The server does not know this attempt any more, or a later one has taken its place: there is nothing to report.
  if (reason instanceof ActivityNotFoundError) return undefined;
  if (reason instanceof ActivityCancelledError) return server.reportCancellation(taskToken);
  // The worker shuts down, or the activity was paused or reset: another attempt follows a retryable failure.
  return server.fail(taskToken, workerShutDown());
}

/** Heartbeats until the call is answered. Stops the call when the server reports that the activity is over. */
async function heartbeatUntil(
  server: AsyncCompletionClient,
  taskToken: Uint8Array,
  stop: AbortController,
  isAnswered: AbortSignal,
): Promise<void> {
  const sinceMs = Date.now();
  while (!isAnswered.aborted && !stop.signal.aborted) {
    try {
      await server.heartbeat(taskToken);
    } catch (error) {
      // An `ActivityCompletionError` says that this heartbeat failed, mostly without a connection: the call goes on.
      // After a long outage the activity times out, and the server retries it.
      if (!(error instanceof ActivityCompletionError)) return stop.abort(error);
    }
    const beatMs = Math.min(longestBeatMs, Math.max(firstBeatMs, (Date.now() - sinceMs) / waitedPerBeat));
    await sleep(beatMs, undefined, { signal: isAnswered }).catch(() => undefined);
  }
}
