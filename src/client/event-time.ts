import type { temporal } from '@temporalio/proto';

/** The time at which the server recorded an event: ISO 8601. Undefined if the event has none. */
export function timeOf(event: temporal.api.history.v1.IHistoryEvent | undefined): string | undefined {
  const { seconds, nanos } = event?.eventTime ?? {};
  // Histories that were read from a file have plain numbers.
  if (seconds == null) return undefined;
  return new Date(Number(seconds) * 1_000 + Math.floor((nanos ?? 0) / 1e6)).toISOString();
}
