import type { Receipt } from '../../src/contract.ts';
import type { PlannedItem } from './schedule.ts';
import type { Via } from './planned-when.ts';

/** One decision as it was sent, and the answer that its sender got. Times are milliseconds of this machine's clock. */
export interface SentItem {
  run: string;
  item: PlannedItem;
  via: Via;
  /** The request that it names. With a fault, it may be no request of the run. */
  requestId: string;
  /** Time of the first attempt; the sender retries until there is an answer or the run is over. */
  sentAtMs: number;
  answeredAtMs: number;
  answer: SendAnswer;
}

/** `recorded`: durable, but its effect is unknown. `none`: every attempt failed. */
export type SendAnswer =
  { kind: 'recorded' } | { kind: 'receipt'; receipt: Receipt } | { kind: 'refused'; code: string } | { kind: 'none' };
