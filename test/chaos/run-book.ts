import type { AuditVerdict } from '../../src/audit/finding.ts';
import type { ApprovalDetails, CallOutcome, JournalEntry } from '../../src/contract.ts';
import type { Projection } from '../../src/events/journal.ts';
import type { RanLine } from './chaos-agent.ts';
import type { PlannedRun } from './schedule.ts';
import type { SentChange } from './sent-change.ts';
import type { SentControl } from './sent-control.ts';
import type { SentItem } from './sent-item.ts';

/** Everything known about one run after a chaos test, from all sources. */
export interface RunBook {
  plan: PlannedRun;
  /** For a nested run: the run that called it. */
  above?: Pick<RunBook, 'plan' | 'changes'>;
  /** How the run's nested runs ended, by call id. */
  nested: Record<string, string>;
  workflowId: string;
  /** Temporal's name of the final status, or `RUNNING`. */
  status: string;
  /** The failure message, if the run failed. */
  failure?: string;
  /** The error, if no worker can answer queries for the run. */
  unread?: string;
  executions: number;
  /** What the verifier says of the run's audit export. */
  audit: AuditVerdict;
  /** The journal entries as the payloads in history hold them, with repeats. */
  entries: JournalEntry[];
  projection: Projection;
  /** The run's own ledger, from query `run`. */
  ledger: { asks: number; open: number; outcomes: CallOutcome[]; refused: number };
  /** Query `approvals` for each request of the projection; null if the run no longer knows the request. */
  details: Record<string, ApprovalDetails | null>;
  /** The outcomes in the run's result, if it has one. */
  result?: CallOutcome[];
  /** The texts that the model got about its calls, in order. */
  told: string[];
  /** The lines that the tools wrote for this run. */
  lines: RanLine[];
  sent: SentItem[];
  controls: SentControl[];
  changes: SentChange[];
}
