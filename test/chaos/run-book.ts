import type { ApprovalDetails, CallOutcome, JournalEntry } from '../../src/contract.ts';
import type { Projection } from '../../src/core/ledger/journal.ts';
import type { RanLine } from './chaos-agent.ts';
import type { PlannedRun } from './schedule.ts';
import type { SentChange } from './sent-change.ts';
import type { SentControl } from './sent-control.ts';
import type { SentItem } from './sent-item.ts';

/** All that is known of one run after a chaos test, from every side. */
export interface RunBook {
  plan: PlannedRun;
  /** Of a nested run: the run that called it. */
  above?: Pick<RunBook, 'plan' | 'changes'>;
  /** How the nested runs ended that its calls started, by the ids of the calls. */
  nested: Record<string, string>;
  workflowId: string;
  /** Temporal's name of how it ended, or `RUNNING`. */
  status: string;
  /** Why it failed, if it did. */
  failure?: string;
  /** Why no worker can answer for it, if none can. */
  unread?: string;
  links: number;
  /** The journal as its carriers in history hold it, with repeats. */
  entries: JournalEntry[];
  projection: Projection;
  /** What the run's own ledger says: query `run`. */
  ledger: { asks: number; open: number; outcomes: CallOutcome[]; refused: number };
  /** Query `approvals` for each request of the projection; null where the run knows it no more. */
  details: Record<string, ApprovalDetails | null>;
  /** The outcomes of its result, where it has one. */
  result?: CallOutcome[];
  /** What the model was told of each call, in order. */
  told: string[];
  /** What the tools wrote down for it. */
  lines: RanLine[];
  sent: SentItem[];
  controls: SentControl[];
  changes: SentChange[];
}
