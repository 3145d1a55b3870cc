import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordedEvent } from '../../events/run-event.ts';
import { grpcStatus, grpcStatusOf } from '../../connection/server-error.ts';
import type { RunReader } from '../history/run-reader.ts';

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** Statuses that no retry changes. */
const final: readonly (number | undefined)[] = [
  grpcStatus.NOT_FOUND,
  grpcStatus.PERMISSION_DENIED,
  grpcStatus.UNAUTHENTICATED,
  grpcStatus.UNIMPLEMENTED,
  undefined,
];

/**
 * Reads the next page, and waits without a limit for a server that is unavailable. Returns no events once `signal`
 * aborts. Throws errors that no retry changes.
 */
export async function readPatiently(
  reader: RunReader,
  options: { wait: boolean; signal: AbortSignal },
): Promise<RecordedEvent[]> {
  const { signal } = options;
  for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await reader.read(options);
    } catch (error) {
      if (signal.aborted) return [];
      const status = grpcStatusOf(error);
      // The server returns this status after a long wait without an event.
      if (status === grpcStatus.DEADLINE_EXCEEDED) pauseMs = firstPauseMs;
      else if (final.includes(status) || isClosed(error)) throw error;
      reader.restart();
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
  return [];
}

/** True if the error means that the client itself was closed. */
function isClosed(error: unknown): boolean {
  return grpcStatusOf(error) === grpcStatus.CANCELLED;
}
