import type { Context } from '@temporalio/activity';

const defaultIntervalMs = 10_000;

/**
 * Heartbeats now and every third of the activity's heartbeat time-out (default 10 seconds), until the returned function
 * is called. Without heartbeats a killed worker is noticed only at the end of start-to-close, and a cancellation never
 * arrives. `details`: what each heartbeat carries; a heartbeat without details would clear those of the one before it.
 */
export function keepHeartbeating(context: Context, details: () => unknown = () => undefined): () => void {
  const { heartbeatTimeoutMs } = context.info;
  const intervalMs = heartbeatTimeoutMs ? Math.max(heartbeatTimeoutMs / 3, 1) : defaultIntervalMs;
  context.heartbeat(details());
  const timer = setInterval(() => context.heartbeat(details()), intervalMs);
  return () => clearInterval(timer);
}
