import type { Receipt } from '../../src/contract.ts';
import type { PlannedItem } from './schedule.ts';
import type { Via } from './planned-when.ts';

/** One decision as it was sent, and what its sender learned. Instants are milliseconds of this machine's clock. */
export interface SentItem {
  run: string;
  item: PlannedItem;
  via: Via;
  /** Where it went; of a fault, not always a request of the run. */
  requestId: string;
  /** The first attempt; a sender repeats until there is an answer or the run is over. */
  sentAtMs: number;
  answeredAtMs: number;
  answer: SendAnswer;
}

/** `recorded`: durable, and nothing is known of what it did. `none`: every attempt failed. */
export type SendAnswer =
  { kind: 'recorded' } | { kind: 'receipt'; receipt: Receipt } | { kind: 'refused'; code: string } | { kind: 'none' };
