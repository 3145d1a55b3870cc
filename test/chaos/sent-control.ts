import type { PlannedControl } from './planned-control.ts';
import type { SendAnswer } from './sent-item.ts';

/**
 * One control message as it was sent, and the answer that its sender got. Times are milliseconds of this machine's
 * clock.
 */
export interface SentControl {
  run: string;
  control: PlannedControl;
  /** The request that it names. Empty for a revocation; with a fault, it may be no request of the run. */
  requestId: string;
  /** For an extension: the new deadline, in milliseconds. */
  untilMs?: number;
  /** Time of the first attempt; the sender retries until there is an answer or the run is over. */
  sentAtMs: number;
  answeredAtMs: number;
  answer: SendAnswer;
}
