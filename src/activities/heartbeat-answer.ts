import type { Context } from '@temporalio/activity';
import { type TokenTail, tokenTail } from '../events/token-tail.ts';

const defaultIntervalMs = 10_000;

export interface AnswerHeartbeats {
  add(text: string): void;
  /** Sends the text that was not sent yet. Call it once the answer is complete. */
  flush(): void;
  stop(): void;
}

/** The interval while text arrives. It is shorter than the worker's throttle, which sends only the latest details. */
const intervalMs = 25;

/**
 * Heartbeats like `keepHeartbeating`, and more often while text arrives, at the worker's own pace
 * (`maxHeartbeatThrottleInterval`). The server keeps only the last details, which do not enter history.
 */
export function heartbeatAnswer(context: Context): AnswerHeartbeats {
  let details: TokenTail | undefined;
  let skipped = 0;
  let text = '';
  let hasMore = false;
  let timer: NodeJS.Timeout | undefined;
  const stopBeating = keepHeartbeating(context, () => details);

  function flush(): void {
    if (!hasMore) return;
    hasMore = false;
    const { attempt, offset, tail } = tokenTail(context.info.attempt, text);
    text = text.slice(offset);
    skipped += offset;
    details = { attempt, offset: skipped, tail };
    context.heartbeat(details);
  }

  function beat(): void {
    timer = hasMore ? setTimeout(beat, intervalMs) : undefined;
    flush();
  }

  return {
    add(more) {
      if (more === '') return;
      text += more;
      hasMore = true;
      if (timer === undefined) beat();
    },
    flush,
    stop() {
      clearTimeout(timer);
      stopBeating();
    },
  };
}

/**
 * Heartbeats now and every third of the activity's heartbeat time-out (default 10 seconds), until the returned function
 * is called. Without heartbeats a killed worker is noticed only at the end of start-to-close, and a cancellation never
 * arrives. `details` gives the details of each heartbeat: one without details would clear the former ones.
 */
function keepHeartbeating(context: Context, details: () => unknown = () => undefined): () => void {
  const { heartbeatTimeoutMs } = context.info;
  const intervalMs = heartbeatTimeoutMs ? Math.max(heartbeatTimeoutMs / 3, 1) : defaultIntervalMs;
  context.heartbeat(details());
  const timer = setInterval(() => context.heartbeat(details()), intervalMs);
  return () => clearInterval(timer);
}
