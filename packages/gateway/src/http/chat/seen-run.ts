import type { Receipt } from 'countersign/client';
import type { ChatThread, RunOfThread } from './chat-thread.ts';

/** What a front end says it has: ids of the steps that it was told. */
export interface SeenItems {
  calls: ReadonlySet<string>;
  results: ReadonlySet<string>;
  texts: ReadonlySet<string>;
  /** The requests that it can answer or has answered. */
  answers: ReadonlySet<string>;
  /** The calls that are only in messages that the stream does not continue. The stream cannot change such a message. */
  elsewhere?: ReadonlySet<string>;
}

/** A front end that has lost everything has these items. */
export const nothingSeen: SeenItems = { calls: new Set(), results: new Set(), texts: new Set(), answers: new Set() };

/** A run that a front end follows. */
export interface ChatRun {
  thread: ChatThread;
  run: RunOfThread;
  workflowId: string;
  /** The id of the message of the user whose turn is followed. Default: that of the last one. */
  said?: string;
  seen: SeenItems;
  /** The receipts of the answers that came with this request. */
  receipts: readonly Receipt[];
  signal: AbortSignal;
  /** As `chatWaitMs` of a gateway. */
  waitMs: number;
}
