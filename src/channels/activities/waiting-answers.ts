import { setTimeout as sleep } from 'node:timers/promises';
import {
  ActivityCancelledError,
  ActivityCompletionError,
  ActivityNotFoundError,
  type AsyncCompletionClient,
} from '@temporalio/client';
import { CompleteAsyncError, Context, getClient } from '@temporalio/activity';
import { aborted } from '../../text/aborted.ts';
import type { ChannelAnswer } from '../channel.ts';
import { failureOf, ofChannel, workerShutDown } from './call-failures.ts';

/** How long an answer may take in the activity's slot, in milliseconds. */
const quickMs = 100;
/** How often a waiting channel checks whether its answer is still needed: the longer it waits, the less often. */
const [firstBeatMs, longestBeatMs] = [1_000, 10_000];
const waitedPerBeat = 20;

type Resolve = (signal: AbortSignal) => Promise<ChannelAnswer> | ChannelAnswer;

interface Waiting {
  taskToken: Uint8Array;
  server: AsyncCompletionClient;
  answer: Promise<ChannelAnswer>;
  stop: AbortController;
}

/**
 * The calls of `resolve` on this worker. A waiting call releases its activity slot and completes by its task token
 * (docs/decisions/0055).
 */
export class WaitingAnswers {
  readonly #waiting = new Map<string, { stop: AbortController; over: Promise<void> }>();

  /** Call it in the activity. `key` identifies the question: a newer call replaces an older one. */
  async answer(key: string, resolve: Resolve): Promise<ChannelAnswer> {
    const { cancellationSignal, info } = Context.current();
    const stop = new AbortController();
    const signal = AbortSignal.any([cancellationSignal, stop.signal]);
    // A function may ignore the signal.
    const answer = Promise.race([ofChannel(() => resolve(signal)), aborted(signal)]);
    const isOver = answer.then(
      () => true,
      () => true,
    );
    if (await Promise.race([isOver, sleep(quickMs, false)])) return answer;
    this.#waiting.get(key)?.stop.abort(new ActivityNotFoundError('asked again'));
    const over = report({ taskToken: info.taskToken, server: getClient().activity, answer, stop });
    const entry = { stop, over };
    this.#waiting.set(key, entry);
    void over.then(() => {
      if (this.#waiting.get(key) === entry) this.#waiting.delete(key);
    });
    throw new CompleteAsyncError();
  }

  /** For a worker that stops: the next one calls these channels again. */
  async stop(): Promise<void> {
    const all = [...this.#waiting.values()];
    for (const { stop } of all) stop.abort(workerShutDown());
    await Promise.all(all.map(({ over }) => over));
  }
}

/**
 * Waits for the answer and reports it to the server. Never rejects: without an answer, the server misses the
 * heartbeats.
 */
async function report({ taskToken, server, answer, stop }: Waiting): Promise<void> {
  const isOver = new AbortController();
  void beat(server, taskToken, stop, isOver.signal);
  const send = await answer.then(
    (value) => () => server.complete(taskToken, value),
    (error: unknown) => () => tellFailure(server, taskToken, stop.signal.aborted ? stop.signal : error),
  );
  isOver.abort();
  await send().catch(() => undefined);
}

async function tellFailure(server: AsyncCompletionClient, taskToken: Uint8Array, failed: unknown): Promise<void> {
  if (!(failed instanceof AbortSignal)) return server.fail(taskToken, failureOf(failed));
  const { reason } = failed;
  if (reason instanceof ActivityNotFoundError) return undefined;
  if (reason instanceof ActivityCancelledError) return server.reportCancellation(taskToken);
  // The worker shuts down, or the activity was paused or reset.
  return server.fail(taskToken, workerShutDown());
}

/** Stops the channel once the server reports that its answer is not needed. */
async function beat(
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
      // Without a connection the call goes on; after a long outage the server counts it as lost.
      if (!(error instanceof ActivityCompletionError)) return stop.abort(error);
    }
    const beatMs = Math.min(longestBeatMs, Math.max(firstBeatMs, (Date.now() - sinceMs) / waitedPerBeat));
    await sleep(beatMs, undefined, { signal: isAnswered }).catch(() => undefined);
  }
}
