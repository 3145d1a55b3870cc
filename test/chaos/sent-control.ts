import type { PlannedControl } from './planned-control.ts';
import type { SendAnswer } from './sent-item.ts';

/** One control as it was sent, and what its sender learned. Instants are milliseconds of this machine's clock. */
export interface SentControl {
  run: string;
  control: PlannedControl;
  /** Where it went; of a revocation empty, of a fault not always a request of the run. */
  requestId: string;
  /** Of an extension: the new deadline, in milliseconds. */
  untilMs?: number;
  /** The first attempt; a sender repeats until there is an answer or the run is over. */
  sentAtMs: number;
  answeredAtMs: number;
  answer: SendAnswer;
}
