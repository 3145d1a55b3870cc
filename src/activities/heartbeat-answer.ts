import type { Context } from '@temporalio/activity';
import { type TokenTail, tokenTail } from '../events/token-tail.ts';

const defaultIntervalMs = 10_000;

export interface AnswerHeartbeats {
  add(text: string): void;
  /** Sends the text that was not sent yet. Call it once the answer is complete. */
  flush(): void;
  stop(): void;
}

/** The interval of heartbeats while text arrives. The SDK throttles them, and then sends only the latest details. */
const intervalMs = 25;

/**
 * Heartbeats like `keepHeartbeating`, and more often while text of the answer arrives. The details have the end of the
 * answer (`tokenTail`), which viewers read from the server. The server keeps only the last details, outside history.
 */
export function heartbeatAnswer(context: Context): AnswerHeartbeats {
  let details: TokenTail | undefined;
  // `text` is the end of the answer. Before it, `cutLength` code units were cut off, which no heartbeat needs again.
  let cutLength = 0;
  let text = '';
  let hasUnsent = false;
  let timer: NodeJS.Timeout | undefined;
  const stopBeating = keepHeartbeating(context, () => details);

  function flush(): void {
    if (!hasUnsent) return;
    hasUnsent = false;
    const { attempt, offset, tail } = tokenTail(context.info.attempt, text);
    text = text.slice(offset);
    cutLength += offset;
    details = { attempt, offset: cutLength, tail };
    context.heartbeat(details);
  }

  function beat(): void {
    timer = hasUnsent ? setTimeout(beat, intervalMs) : undefined;
    flush();
  }

  return {
    add(more) {
      if (more === '') return;
      text += more;
      hasUnsent = true;
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
 * is called. Without heartbeats, the server would notice a killed worker late, and the activity would never learn of a
 * cancellation. `details` returns the details to send, because a heartbeat without details clears the earlier ones.
 */
function keepHeartbeating(context: Context, details: () => unknown = () => undefined): () => void {
  const { heartbeatTimeoutMs } = context.info;
  const intervalMs = heartbeatTimeoutMs ? Math.max(heartbeatTimeoutMs / 3, 1) : defaultIntervalMs;
  context.heartbeat(details());
  const timer = setInterval(() => context.heartbeat(details()), intervalMs);
  return () => clearInterval(timer);
}
