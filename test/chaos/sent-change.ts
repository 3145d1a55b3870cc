import type { PlannedChange } from './schedule.ts';

/** One policy change as it was sent. Times are milliseconds of this machine's clock. */
export interface SentChange {
  run: string;
  change: PlannedChange;
  /** Time of the first attempt; the sender retries until it is acknowledged or the run is over. */
  sentAtMs: number;
}
