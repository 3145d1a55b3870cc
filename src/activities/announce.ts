import { activityInfo, getClient, log } from '@temporalio/activity';
import { changedName, channelsWorkflowId, channelsWorkflowType, runMemoName } from '../contract.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import type { DueStep } from '../core/ledger/escalation.ts';

export interface AnnouncedStep {
  kind: 'warned' | 'reminded' | 'escalated';
  /** For `escalated`: the additional reviewers. */
  to?: readonly string[];
  /** When the step was due. `kind` and this time together identify the step. */
  dueAt: string;
}

export interface AnnounceInput {
  workflowId: string;
  /** The requests that were opened or settled, or that have other channels now. */
  requestIds: string[];
  /** An escalation step of the first request in `requestIds`. Absent if no step was taken. */
  step?: AnnouncedStep;
  /** Puts journal entries into history; the activity does not read them. */
  journal?: JournalEntry[];
}

export type Announce = (input: AnnounceInput) => Promise<void>;

export type ChangedSignal = Pick<AnnounceInput, 'requestIds' | 'step'>;

/**
 * The activity `countersign.announce`: signals the workflow of the run's channels, and starts that workflow if there is
 * none. The signal only names requests: the workflow reads their state from the run.
 */
export const announce: Announce = async ({ workflowId, requestIds, step }) => {
  const changed: ChangedSignal = { requestIds, ...(step && { step }) };
  const channelsId = channelsWorkflowId(workflowId);
  await getClient().workflow.signalWithStart(channelsWorkflowType, {
    workflowId: channelsId,
    // The id of the channels' workflow has a digest in place of a long run id, so a memo names the run.
    ...(!channelsId.endsWith(workflowId) && { memo: { [runMemoName]: workflowId } }),
    taskQueue: activityInfo().taskQueue,
    args: [{ workflowId }],
    signal: changedName,
    signalArgs: [changed],
  });
};

/** One escalation step of a waiting request, for the log. It has none of the call's arguments (I13). */
export interface NotifyInput {
  kind: DueStep['kind'];
  workflowId: string;
  requestId: string;
  toolName: string;
  agentName: string;
  reviewers: string[];
  /** For `escalated`: the additional reviewers. */
  to?: readonly string[];
  deadline: string | null;
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
    // Without channels the log is the only place where people learn of the step, so the line is a warning there.
    log[hasChannels ? 'info' : 'warn'](sentences[kind], { step: kind, ...request, ...(to && { to }) });
    if (hasChannels) await announce({ workflowId, requestIds: [requestId], step: { kind, to, dueAt } });
  };
}
