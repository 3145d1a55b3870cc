import { log } from '@temporalio/activity';
import type { LadderStep } from '../core/ledger/escalation.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';

/** One step of a waiting request. What its arguments are stays out (I13). */
export interface NotifyInput {
  kind: LadderStep['kind'];
  workflowId: string;
  requestId: string;
  toolName: string;
  agentName: string;
  /** Who may answer; empty: anyone. */
  reviewers: string[];
  /** For `escalated`: who is asked besides. */
  to?: readonly string[];
  deadline: string | null;
  /** Rides along so that history keeps it; the activity does not read it. */
  journal?: JournalEntry[];
}

export type Notify = (input: NotifyInput) => Promise<void>;

const sentences = {
  warned: 'An approval request is about to expire',
  reminded: 'An approval request is still open',
  escalated: 'An approval request asks more reviewers',
} as const satisfies Record<LadderStep['kind'], string>;

/** The activity `countersign.notify`: says what happens to a waiting request. Its one channel is the worker's log. */
export const notify: Notify = async (input) => {
  const { kind, workflowId, requestId, toolName, agentName, reviewers, to, deadline } = input;
  const request = { workflowId, requestId, toolName, agentName, reviewers, deadline };
  log.info(sentences[kind], { step: kind, ...request, ...(to && { to }) });
};
