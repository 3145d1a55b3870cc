import { activityInfo, getClient } from '@temporalio/activity';
import { changedName, channelsWorkflowId, channelsWorkflowType, runMemoName } from '../contract.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';

/** A step of a waiting request. */
export interface AnnouncedStep {
  kind: 'warned' | 'reminded' | 'escalated';
  /** For `escalated`: the additional reviewers. */
  to?: readonly string[];
  /** When it was due: with `kind` it names the step. */
  dueAt: string;
}

export interface AnnounceInput {
  workflowId: string;
  /** Requests that have opened, have other channels, or are settled. */
  requestIds: string[];
  /** A step of the first of them. Absent: no step was taken. */
  step?: AnnouncedStep;
  /** Puts journal entries into history; the activity does not read them. */
  journal?: JournalEntry[];
}

export type Announce = (input: AnnounceInput) => Promise<void>;

/** The argument of the signal `changed`. It is a hint: the workflow reads the state of the requests from the run. */
export type ChangedSignal = Pick<AnnounceInput, 'requestIds' | 'step'>;

/**
 * The activity `countersign.announce`: tells the workflow of the run's channels to look at these requests, and starts it
 * if it does not run.
 */
export const announce: Announce = async ({ workflowId, requestIds, step }) => {
  const changed: ChangedSignal = { requestIds, ...(step && { step }) };
  const channelsId = channelsWorkflowId(workflowId);
  await getClient().workflow.signalWithStart(channelsWorkflowType, {
    workflowId: channelsId,
    ...(!channelsId.endsWith(workflowId) && { memo: { [runMemoName]: workflowId } }),
    taskQueue: activityInfo().taskQueue,
    args: [{ workflowId }],
    signal: changedName,
    signalArgs: [changed],
  });
};
