import type { PlannedChange } from './schedule.ts';

/** One change of policy as it was sent. Instants are milliseconds of this machine's clock. */
export interface SentChange {
  run: string;
  change: PlannedChange;
  /** The first attempt; it is repeated until it is acknowledged or the run is over. */
  sentAtMs: number;
}
