/**
 * When something is sent: a time after the turn's requests were seen (`afterMs`); a time before the deadline of the
 * first item's request, or after it if negative (`beforeDeadlineMs`); a time after the nested run of call `nested` got
 * the answer that lets it end (`afterNestedMs`); or when none of the requests is open any more (`settled`).
 */
export type PlannedWhen =
  { afterMs: number } | { beforeDeadlineMs: number } | { nested: number; afterNestedMs: number } | 'settled';

/** `client` uses the Countersign client, which sends an update and falls back to a signal. */
export type Via = 'signal' | 'update' | 'client';
