import type { Receipt } from 'countersign/client';
import type { ChatThread } from './chat-thread.ts';

/** What a front end says it has: ids of the steps that it was told. */
export interface SeenItems {
  calls: ReadonlySet<string>;
  results: ReadonlySet<string>;
  texts: ReadonlySet<string>;
  /** The requests that it can answer or has answered. */
  answers: ReadonlySet<string>;
}

/** A run that a front end follows. */
export interface ChatRun {
  thread: ChatThread;
  workflowId: string;
  turn: string;
  seen: SeenItems;
  /** The receipts of the answers that came with this request. */
  receipts: readonly Receipt[];
  signal: AbortSignal;
}
