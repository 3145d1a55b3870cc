/**
 * When something is sent: so long after the turn was seen to ask, before (or, below zero, after) the deadline of the
 * first item's request, so long after the nested run of call `nested` got the answer that lets it end, or once none of
 * its requests is open any more.
 */
export type PlannedWhen =
  { afterMs: number } | { beforeDeadlineMs: number } | { nested: number; afterNestedMs: number } | 'settled';

/** `client` is the update that falls back to a signal. */
export type Via = 'signal' | 'update' | 'client';
