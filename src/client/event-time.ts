import type { temporal } from '@temporalio/proto';

type Event = Pick<temporal.api.history.v1.IHistoryEvent, 'eventTime'>;

/** The time at which the server recorded an event: ISO 8601. Undefined if the event has none. */
export function eventTime(event: Event | undefined): string | undefined {
  return event?.eventTime?.seconds == null ? undefined : new Date(eventTimeMs(event)).toISOString();
}

/** The same in milliseconds since 1970; 0 if the event has none. */
export function eventTimeMs(event: Event | undefined): number {
  const { seconds, nanos } = event?.eventTime ?? {};
  // Histories that were read from a file have plain numbers.
  return Number(seconds ?? 0) * 1_000 + Math.floor((nanos ?? 0) / 1_000_000);
}
