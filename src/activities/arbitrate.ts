import { recordedAtMs, recordedEvents } from './recorded-events.ts';

export interface ArbitrateInput {
  /** The execution whose history holds the events. */
  runId: string;
  /** Ids of signal events. */
  eventIds: string[];
}

/** When the server recorded each event, in whole milliseconds. */
export type Arbitrate = (input: ArbitrateInput) => Promise<Record<string, number>>;

/**
 * Reads the recorded times of decisions that were handled after the deadline but may have been sent before it (I6).
 * Times are compared, not event ids: the event of a fired timer may lag by seconds.
 */
export const arbitrate: Arbitrate = async ({ runId, eventIds }) => {
  const events = await recordedEvents(runId, eventIds);
  return Object.fromEntries([...events].map(([id, event]) => [id, recordedAtMs(event)]));
};
