import { log } from '@temporalio/activity';
import { announce } from './announce.ts';
import type { DueStep } from '../core/ledger/escalation.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';

/** One step of a waiting request. The call's arguments are left out (I13). */
export interface NotifyInput {
  kind: DueStep['kind'];
  workflowId: string;
  requestId: string;
  toolName: string;
  agentName: string;
  /** The reviewers who may answer; empty: anyone may. */
  reviewers: string[];
  /** For `escalated`: the additional reviewers. */
  to?: readonly string[];
  deadline: string | null;
  /** When the step was due. */
  dueAt: string;
  /** Puts journal entries into history; the activity does not read them. */
  journal?: JournalEntry[];
}

export type Notify = (input: NotifyInput) => Promise<void>;

const sentences = {
  warned: 'An approval request is about to expire',
  reminded: 'An approval request is still open',
  escalated: 'An approval request asks more reviewers',
} as const satisfies Record<DueStep['kind'], string>;

/** The activity `countersign.notify`: reports a step of a waiting request in the worker's log, and to its channels. */
export function createNotify({ hasChannels }: { hasChannels: boolean }): Notify {
  return async ({ kind, workflowId, requestId, toolName, agentName, reviewers, to, deadline, dueAt }) => {
    const request = { workflowId, requestId, toolName, agentName, reviewers, deadline };
    // The SDK's logger prints undefined fields.
    log.info(sentences[kind], { step: kind, ...request, ...(to && { to }) });
    if (hasChannels) await announce({ workflowId, requestIds: [requestId], step: { kind, to, dueAt } });
  };
}
